import { readFileSync, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { basename, join } from 'node:path';

/** Serves an example page with the key and the service URL filled in. Returns whether the page exists. */
export function serveExample(
  root: string,
  path: string,
  { publishableKey, serviceUrl }: { publishableKey: string; serviceUrl: string },
  response: ServerResponse,
): boolean {
  if (!/^\/examples\/[\w-]+\.html$/.test(path)) return false;
  const file = join(root, 'examples', basename(path));
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return false;
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
  });
  response.end(
    readFileSync(file, 'utf8')
      .replace('pk_sandbox_…', publishableKey)
      .replace('https://play.example.com', serviceUrl),
  );
  return true;
}
