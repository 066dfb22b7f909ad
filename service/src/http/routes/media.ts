import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { MediaStore } from '../../media/media-store.ts';
import { storedTypeOf } from '../../media/take-media.ts';
import { ProblemError } from '../problem.ts';
import { sendMedia } from '../send-media.ts';

interface Parts {
  mediaDirectory: string;
  mediaStore: MediaStore;
}

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

/** Whatever a file holds, in a tab of its own it has no origin, runs nothing and loads nothing. */
const stillPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";
/** An HTML creative runs alone: an opaque origin, nothing loaded from elsewhere. */
const creativePolicy =
  "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; media-src data: blob:; font-src data:";

const policyOf = (type: string): string =>
  type.startsWith('text/html') ? creativePolicy : stillPolicy;

/** `/media/{file}`: the files of our own creatives, for every page. */
export function addMediaRoutes(app: FastifyInstance, { mediaDirectory, mediaStore }: Parts): void {
  app.get<{ Params: { file: string } }>(
    '/media/:file',
    { schema: { hide: true } },
    async (request, reply) => {
      const { file } = request.params;
      const found = (await findUploaded(mediaStore, file)) ?? (await findOwn(mediaDirectory, file));
      if (!found) throw new ProblemError('not_found', 'There is no such file.');
      return sendMedia(request, reply, found);
    },
  );
}

async function findUploaded(store: MediaStore, name: string) {
  const type = storedTypeOf(name);
  const stored = type && (await store.find(name));
  if (!stored) return undefined;
  return {
    ...stored,
    type: type === 'text/html' ? `${type}; charset=utf-8` : type,
    headers: {
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': policyOf(type),
    },
  };
}

/** A file of the folder that the service was configured with. */
async function findOwn(folder: string, name: string) {
  const type = types[extname(name)];
  // No separator and no leading dot: the name cannot leave the folder.
  if (!type || !/^[a-z0-9][a-z0-9._-]*$/i.test(name)) return undefined;
  const path = join(folder, name);
  const info = await stat(path).catch(() => undefined);
  if (!info?.isFile()) return undefined;
  return {
    type,
    bytes: info.size,
    read: async (range?: { start: number; end: number }) => createReadStream(path, range),
    headers: {
      'cache-control': 'public, max-age=300',
      'last-modified': info.mtime.toUTCString(),
      'content-security-policy': policyOf(type),
    },
  };
}
