import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { ProblemError } from '../../problem.ts';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

/** Scripts are files of ours only; the component library makes its style elements as it goes. */
const panelPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' https: http: data: blob:; media-src 'self' https: http: blob:; font-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
/** The preview runs creatives, so it runs without our origin: it reaches no cookie and no interface. */
const previewPolicy =
  "sandbox allow-scripts; default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src * data: blob:; media-src * data: blob:; font-src data:; frame-src *; frame-ancestors 'self'";

/** Where the build puts the panel: beside the built service, or seen from the sources. */
const built = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../../../dist/panel' : './panel', import.meta.url),
);

interface PanelFile {
  body: Buffer;
  /** Where it is smaller. */
  gzipped?: Buffer;
  type: string;
  entityTag: string;
}

/** `/panel/…`: the files of the panel. Only those that are there at the start are ever read. */
export function addPanelFiles(app: FastifyInstance, folder = built): void {
  const known = new Map<string, Promise<PanelFile> | undefined>(
    listFiles(folder).map((name) => [name, undefined]),
  );
  const read = (name: string): Promise<PanelFile> | undefined => {
    if (!known.has(name)) return undefined;
    const file = known.get(name) ?? load(folder, name);
    known.set(name, file);
    return file;
  };
  for (const url of ['/', '/panel'])
    app.get(url, { schema: { hide: true } }, (_request, reply) => reply.redirect('/panel/'));
  app.get<{ Params: { '*': string } }>(
    '/panel/*',
    { schema: { hide: true } },
    async (request, reply) => {
      const path = request.params['*'];
      if (path.startsWith('api/'))
        throw new ProblemError('not_found', 'There is nothing at this address.');
      const name = extname(path) === '' ? 'index.html' : path;
      const file = await read(name);
      if (!file) {
        throw new ProblemError(
          'not_found',
          known.size === 0
            ? 'The panel is not built: run `npm run build`.'
            : 'There is no such file.',
        );
      }
      void reply.headers({ ...headersOf(name), etag: file.entityTag, vary: 'accept-encoding' });
      if (request.headers['if-none-match'] === file.entityTag) return reply.code(304).send();
      void reply.type(file.type);
      const takesGzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
      return file.gzipped && takesGzip
        ? reply.header('content-encoding', 'gzip').send(file.gzipped)
        : reply.send(file.body);
    },
  );
}

const listFiles = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && types[extname(entry.name)] !== undefined)
        .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    : [];

async function load(folder: string, name: string): Promise<PanelFile> {
  const body = await readFile(join(folder, name));
  const gzipped = await promisify(gzip)(body, { level: 9 });
  return {
    body,
    ...(gzipped.length < body.length ? { gzipped } : {}),
    type: types[extname(name)] ?? 'application/octet-stream',
    entityTag: `"${createHash('sha256').update(body).digest('base64url')}"`,
  };
}

function headersOf(name: string): Record<string, string> {
  const asset = name.startsWith('assets/');
  return {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': asset ? 'public, max-age=31536000, immutable' : 'no-cache',
    // The preview has no origin of its own, so our scripts are those of another one to it.
    ...(asset
      ? { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' }
      : { 'content-security-policy': name === 'preview.html' ? previewPolicy : panelPolicy }),
    ...(name === 'index.html' ? { 'cross-origin-opener-policy': 'same-origin' } : {}),
  };
}
