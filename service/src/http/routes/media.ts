import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { readRange } from '../media-range.ts';
import { ProblemError } from '../problem.ts';

const types: Record<string, string> = {
  '.mp4': 'video/mp4',
  '.webm': 'video/webm',
  '.jpg': 'image/jpeg',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.svg': 'image/svg+xml',
  '.vtt': 'text/vtt; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
};

/** An HTML creative runs alone: an opaque origin, nothing loaded from elsewhere. */
const creativePolicy =
  "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; media-src data: blob:; font-src data:";

/** `/media/{file}`: the files of our own creatives, for every page. */
export function addMediaRoutes(
  app: FastifyInstance,
  { mediaDirectory }: { mediaDirectory: string },
): void {
  app.get<{ Params: { file: string } }>(
    '/media/:file',
    { schema: { hide: true } },
    async (request, reply) => {
      const { file } = request.params;
      const type = types[extname(file)];
      const path = join(mediaDirectory, file);
      // No separator and no leading dot: the name cannot leave the folder.
      const info =
        type && /^[a-z0-9][a-z0-9._-]*$/i.test(file)
          ? await stat(path).catch(() => undefined)
          : undefined;
      if (!type || !info?.isFile()) throw new ProblemError('not_found', 'There is no such file.');

      void reply.headers({
        'content-type': type,
        'accept-ranges': 'bytes',
        'access-control-allow-origin': '*',
        'cache-control': 'public, max-age=300',
        'cross-origin-resource-policy': 'cross-origin',
        'last-modified': info.mtime.toUTCString(),
        'x-content-type-options': 'nosniff',
        ...(type.startsWith('text/html') || type.startsWith('image/svg')
          ? { 'content-security-policy': creativePolicy }
          : {}),
      });
      const range = readRange(request.headers.range, info.size);
      if (range === 'unsatisfiable') {
        return reply
          .code(416)
          .header('content-range', `bytes */${info.size}`)
          .header('content-length', 0)
          .send();
      }
      if (range === 'all')
        return reply.header('content-length', info.size).send(createReadStream(path));
      return reply
        .code(206)
        .header('content-range', `bytes ${range.start}-${range.end}/${info.size}`)
        .header('content-length', range.end - range.start + 1)
        .send(createReadStream(path, range));
    },
  );
}
