import { createReadStream, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};

/** Serves a file from the built game. Returns whether the file exists. */
export function serveFile(root: string, path: string, response: ServerResponse): boolean {
  const file = normalize(join(root, path.endsWith('/') ? `${path}index.html` : path));
  const type = types[extname(file)];
  if (!file.startsWith(root + sep) || !type) return false;
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return false;
  // Asset file names contain a content hash, so they can be cached forever. All other files must be revalidated.
  const cacheControl = path.startsWith('/assets/') ? 'max-age=31536000, immutable' : 'no-cache';
  response.writeHead(200, { 'content-type': type, 'cache-control': cacheControl });
  createReadStream(file).pipe(response);
  return true;
}
