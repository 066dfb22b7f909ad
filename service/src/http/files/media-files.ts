// Handles two cases that `@fastify/static` does not support: files in a bucket, and some valid ranges.
import { basename, extname } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { MediaStore } from '../../media/media-store.ts';
import { storedExtensions } from '../../media/media-type.ts';
import { findStoredType } from '../../media/ingest-media.ts';
import { ProblemError } from '../problems/problem.ts';
import { sendFileError, fileOptions } from './static-files.ts';

interface Deps {
  mediaDirectory: string;
  mediaStore: MediaStore;
}

/** If a file is opened in its own tab, it has an opaque origin, runs no scripts and loads nothing. */
const staticPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";
/** HTML creatives run in isolation: in an opaque origin, without loading anything from other origins. */
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
      setHeaders: (reply, path) => void reply.headers(buildHeaders(basename(path))),
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
        const type = findStoredType(file);
        const fetchedFile =
          type && 'fetch' in source ? await source.fetch(file, readRange(request)) : undefined;
        if (!type || !fetchedFile) return reply.sendFile(file);
        // The file's headers are left out, because they would make caches store this response for a year.
        if (fetchedFile.status === 416)
          return reply
            .code(416)
            .headers({ ...crossOriginHeaders, ...fetchedFile.headers })
            .send(fetchedFile.body);
        return reply
          .code(fetchedFile.status)
          .headers({ ...buildHeaders(file), ...fetchedFile.headers, 'accept-ranges': 'bytes' })
          .type(type === 'text/html' ? `${type}; charset=utf-8` : type)
          .send(fetchedFile.body);
      },
    );
  });
}

/**
 * Whether a `Range` that `@fastify/static` rejects is really unsatisfiable. `@fastify/static` also rejects malformed
 * ranges and suffixes longer than the file, but both mean the whole file (RFC 9110, 14.1.2 and 14.2).
 */
function isUnsatisfiable(range = ''): boolean {
  const [match, first, last] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? [];
  if (match === undefined || match === 'bytes=-') return false;
  return first === '' ? Number(last) === 0 : last === '' || Number(first) <= Number(last);
}

/**
 * Returns a single range, the only kind that media stores support. Multiple or malformed ranges mean the whole file.
 */
const readRange = ({ method, headers: { range } }: FastifyRequest) => ({
  method: method === 'HEAD' ? ('HEAD' as const) : ('GET' as const),
  range: /^bytes=(\d+-\d*|-\d+)$/.test(range ?? '') ? range : undefined,
});

const buildHeaders = (name: string): Record<string, string> => ({
  // The name of an uploaded file is the hash of its content.
  'cache-control': findStoredType(name)
    ? 'public, max-age=31536000, immutable'
    : 'public, max-age=300',
  'content-security-policy': extname(name) === '.html' ? creativePolicy : staticPolicy,
  ...crossOriginHeaders,
  'x-content-type-options': 'nosniff',
});
