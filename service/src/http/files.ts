import { existsSync } from 'node:fs';
import { basename, extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyReply, FastifyRequest, FastifyInstance } from 'fastify';
import { findStoredType } from '../media/ingest-media.ts';
import type { MediaStore } from '../media/media-store.ts';
import { storedExtensions } from '../media/media-type.ts';
import { ProblemError } from './problem.ts';

/** `@fastify/static` options for routes that set their own headers with `setHeaders`. */
export const fileOptions = {
  serve: false,
  cacheControl: false,
  dotfiles: 'ignore',
  index: false,
  // The folder may not exist yet, because it is created by the first upload.
  suppressWarning: true,
} as const;

/** Response headers that describe the file. */
const fileHeaders = [
  'accept-ranges',
  'cache-control',
  'content-encoding',
  'content-range',
  'etag',
  'last-modified',
];

/**
 * Handles requests that `@fastify/static` rejects. A path outside the folder is treated like a missing file. If a
 * precondition fails or a range is unsatisfiable, only the status and headers are sent, as media players expect.
 */
export function sendFileError(
  error: Error & { statusCode?: number; headers?: Record<string, string> },
  _request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { statusCode = 500, headers = {} } = error;
  if (statusCode === 400 || statusCode === 403)
    throw new ProblemError('not_found', 'The file does not exist.');
  if (statusCode !== 412 && statusCode !== 416) {
    // The file may be readable a second later, so caches must not store this response.
    for (const name of fileHeaders) void reply.removeHeader(name);
    throw error;
  }
  void reply.code(statusCode).headers(headers).send();
}

// Handles two cases that `@fastify/static` does not support: files in a bucket, and some valid ranges.

interface Deps {
  mediaDirectory: string;
  mediaStore: MediaStore;
}

/** A file that is opened in its own tab gets an opaque origin, and can't run scripts or load resources. */
const staticPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";
/** HTML creatives run sandboxed: they get an opaque origin and can't load external resources. */
const creativePolicy =
  "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; media-src data: blob:; font-src data:";

/** Files with other extensions in the configured folder are not served. */
const servedExtensions: ReadonlySet<string> = new Set(
  Object.values(storedExtensions).map((extension) => `.${extension}`),
);

/** Lets pages from any origin read a response. Without these headers, a script cannot even see the status. */
const crossOriginHeaders = {
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
  // Shows the SDK whether a response arrived, so that it can tell a blocked file from a missing one.
  'timing-allow-origin': '*',
};

/** Adds `/media/{file}`, which serves uploaded files and files in the configured folder to pages from any origin. */
export async function addMediaRoutes(
  app: FastifyInstance,
  { mediaDirectory, mediaStore: { source } }: Deps,
): Promise<void> {
  await app.register(async (media) => {
    await media.register(fastifyStatic, {
      ...fileOptions,
      root: 'folder' in source ? [...new Set([source.folder, mediaDirectory])] : mediaDirectory,
      setHeaders: (reply, path) => void reply.headers(buildMediaHeaders(basename(path))),
    });
    media.get<{ Params: { file: string } }>(
      '/media/:file',
      {
        schema: { hide: true },
        errorHandler(error, request, reply) {
          void reply.headers(crossOriginHeaders);
          if (error.statusCode !== 416 || isUnsatisfiable(request.headers.range))
            sendFileError(error, request, reply);
          else
            void reply
              .code(200)
              .removeHeader('content-range')
              .sendFile(request.params.file, { acceptRanges: false });
        },
      },
      async (request, reply) => {
        const { file } = request.params;
        if (!servedExtensions.has(extname(file)))
          throw new ProblemError('not_found', 'The file does not exist.');
        if (pageExtensions.has(extname(file))) rejectPage(request, reply);
        const type = findStoredType(file);
        const fetchedFile =
          type && 'fetch' in source ? await source.fetch(file, readRange(request)) : undefined;
        if (!type || !fetchedFile) return reply.sendFile(file);
        // Omits the file's headers, because they would make caches store this response for a year.
        if (fetchedFile.status === 416)
          return reply
            .code(416)
            .headers({ ...crossOriginHeaders, ...fetchedFile.headers })
            .send(fetchedFile.body);
        return reply
          .code(fetchedFile.status)
          .headers({ ...buildMediaHeaders(file), ...fetchedFile.headers, 'accept-ranges': 'bytes' })
          .type(type === 'text/html' ? `${type}; charset=utf-8` : type)
          .send(fetchedFile.body);
      },
    );
  });
}

/** Files that a browser shows as a page if they are opened directly. */
const pageExtensions: ReadonlySet<string> = new Set(['.html', '.svg']);

/**
 * Rejects a file that is to be opened as a page of its own. It would bear the address of the panel, and could ask for a
 * password in its name. In a frame or an image, it bears the address of the page around it.
 *
 * @throws ProblemError `frame_required`
 */
function rejectPage({ headers }: FastifyRequest, reply: FastifyReply): void {
  // A cached copy that was loaded in a frame must not be shown as a page either.
  void reply.header('vary', 'sec-fetch-dest');
  if (headers['sec-fetch-dest'] !== 'document') return;
  throw new ProblemError(
    'frame_required',
    'This file is part of an ad, and is shown only within a page: open its creative in the panel, where there is a preview.',
  );
}

/**
 * Whether a `Range` that `@fastify/static` rejects is really unsatisfiable. `@fastify/static` also rejects malformed
 * ranges and suffix ranges longer than the file, but both should yield the whole file (RFC 9110, 14.1.2 and 14.2).
 */
function isUnsatisfiable(range = ''): boolean {
  const [match, first, last] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? [];
  if (match === undefined || match === 'bytes=-') return false;
  return first === '' ? Number(last) === 0 : last === '' || Number(first) <= Number(last);
}

/**
 * Returns a single range, the only kind that media stores support. Multiple or malformed ranges are ignored, so the
 * whole file is returned.
 */
const readRange = ({ method, headers: { range } }: FastifyRequest) => ({
  method: method === 'HEAD' ? ('HEAD' as const) : ('GET' as const),
  range: /^bytes=(\d+-\d*|-\d+)$/.test(range ?? '') ? range : undefined,
});

const buildMediaHeaders = (name: string): Record<string, string> => ({
  // An uploaded file is named after the hash of its content.
  'cache-control': findStoredType(name)
    ? 'public, max-age=31536000, immutable'
    : 'public, max-age=300',
  'content-security-policy': extname(name) === '.html' ? creativePolicy : staticPolicy,
  // A cross-origin isolated page, as games with threads need, loads only frames that have this header too.
  ...(extname(name) === '.html' ? { 'cross-origin-embedder-policy': 'require-corp' } : {}),
  ...crossOriginHeaders,
  'x-content-type-options': 'nosniff',
});

/**
 * Allows only the panel's own script files. Inline styles are allowed, because the component library creates style
 * elements at run time.
 */
const panelPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' https: http: data: blob:; media-src 'self' https: http: blob:; font-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
/** The preview runs creatives, so it has an opaque origin without access to the session cookie and the API. */
const previewPolicy =
  "sandbox allow-scripts; default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src * data: blob:; media-src * data: blob:; font-src data:; frame-src *; frame-ancestors 'self'";

/** The panel's build output, relative to the built service or to the source files. */
const builtFolder = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../dist/panel' : './panel', import.meta.url),
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
      // `ETag` and `Last-Modified` are computed from the size and the modification time. In npm packages, a file has
      // the same modification time in every version and often the same size, so a browser would keep using the cached
      // page of the previous version.
      etag: false,
      lastModified: false,
      setHeaders: (reply, path) => void reply.headers(buildPanelHeaders(relative(folder, path))),
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

function buildPanelHeaders(path: string): Record<string, string> {
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
