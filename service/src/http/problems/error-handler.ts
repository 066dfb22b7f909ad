import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answerProblem, ProblemError } from './problem.ts';

/** Responds to every error with a problem document; add it before any route. */
export function addErrorHandler(app: FastifyInstance): void {
  const methodsOf = collectMethods(app);
  app.setErrorHandler(sendProblem);
  app.setNotFoundHandler((request, reply) => {
    const methods = methodsOf(request.url.split('?')[0] ?? '');
    // A route that accepts the method gets here when its file does not exist.
    if (methods.length === 0 || methods.includes(request.method))
      throw new ProblemError('not_found', 'There is no such endpoint.');
    void reply.header('allow', methods.join(', '));
    throw new ProblemError('method_not_allowed', `This endpoint supports ${methods.join(', ')}.`);
  });
}

/** Sends the problem document of an error, and logs the error if the service is at fault. */
export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { document, headers, unexpected } = answerProblem(error, request.id);
  if (unexpected)
    request.log.error({ err: error, route: request.routeOptions.url }, 'a request failed');
  void reply.code(document.status).headers(headers).send(document);
}

/** The methods of every route by path, so that a wrong method gets 405 instead of 404. */
function collectMethods(app: FastifyInstance): (path: string) => string[] {
  const routes: { pattern: RegExp; method: string }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = new RegExp(
      `^${url.replaceAll(/[.*+?^$()[\]\\]/g, '\\$&').replaceAll(/:[^/]+/g, '[^/]+')}$`,
    );
    for (const each of [method].flat()) routes.push({ pattern, method: each });
  });
  return (path) => routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
}
