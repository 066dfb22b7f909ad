import type { FastifyInstance } from 'fastify';

/** Knows which methods an address has, so that a wrong one is answered 405 and not 404. */
export function collectMethods(app: FastifyInstance): (path: string) => string[] {
  const routes: { pattern: RegExp; method: string }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = new RegExp(
      `^${url.replaceAll(/[.*+?^$()[\]\\]/g, '\\$&').replaceAll(/:[^/]+/g, '[^/]+')}$`,
    );
    for (const each of [method].flat()) routes.push({ pattern, method: each });
  });
  return (path) => routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
}
