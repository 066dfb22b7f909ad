import { existsSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { ProblemError } from '../problems/problem.ts';
import { sendFileError, fileOptions } from './static-files.ts';

/**
 * Allows only the panel's own script files. Inline styles are allowed, because the component library creates style
 * elements at run time.
 */
const panelPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' https: http: data: blob:; media-src 'self' https: http: blob:; font-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
/** The preview runs creatives, so it has an opaque origin without access to the session cookie and the API. */
const previewPolicy =
  "sandbox allow-scripts; default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src * data: blob:; media-src * data: blob:; font-src data:; frame-src *; frame-ancestors 'self'";

/** The output folder of the panel's build, relative to the built service or to the sources. */
const builtFolder = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../../dist/panel' : './panel', import.meta.url),
);

/**
 * Adds `/panel/…`, which serves the panel's files. They were compressed at build time. Paths without a file extension
 * return the panel's page.
 */
export async function addPanelFiles(app: FastifyInstance, folder = builtFolder): Promise<void> {
  for (const url of ['/', '/panel'])
    app.get(url, { schema: { hide: true } }, (_request, reply) => reply.redirect('/panel/'));
  const isBuilt = existsSync(join(folder, 'index.html'));
  await app.register(async (panel) => {
    await panel.register(fastifyStatic, {
      ...fileOptions,
      root: folder,
      preCompressed: true,
      // `ETag` and `Last-Modified` are computed from the size and the modification time. In packages, all versions have
      // the same modification time and often the same size, so a browser would keep the page of the previous version.
      etag: false,
      lastModified: false,
      setHeaders: (reply, path) => void reply.headers(buildHeaders(relative(folder, path))),
    });
    panel.get<{ Params: { '*': string } }>(
      '/panel/*',
      { schema: { hide: true }, errorHandler: sendFileError },
      async (request, reply) => {
        if (!isBuilt)
          throw new ProblemError('not_found', 'The panel has not been built: run `npm run build`.');
        const path = request.params['*'];
        if (path.startsWith('api/'))
          throw new ProblemError('not_found', 'There is no such endpoint.');
        return reply.sendFile(extname(path) === '' ? 'index.html' : path);
      },
    );
  });
}

function buildHeaders(path: string): Record<string, string> {
  const name = path.replace(/\.(br|gz)$/, '');
  const isAsset = name.startsWith(`assets${sep}`);
  return {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': isAsset ? 'public, max-age=31536000, immutable' : 'no-cache',
    // The preview has an opaque origin, so its scripts are cross-origin.
    ...(isAsset
      ? { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' }
      : { 'content-security-policy': name === 'preview.html' ? previewPolicy : panelPolicy }),
    ...(name === 'index.html' ? { 'cross-origin-opener-policy': 'same-origin' } : {}),
  };
}
