import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';

/** @type {Record<string, string>} */
const types = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

/**
 * Serves the files of a folder on this machine, and besides them `/config.json`.
 *
 * @param {string} folder
 * @param {number} port
 * @param {object} config
 * @returns {Promise<{ stop(): void }>}
 */
export function serveFolder(folder, port, config) {
  const server = createServer((request, response) => {
    response.setHeader('cache-control', 'no-cache');
    const path = pathOf(request.url ?? '/');
    if (path === '/config.json') {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(config));
      return;
    }
    const file = path === undefined ? undefined : fileIn(folder, path);
    if (file === undefined) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('Not found');
      return;
    }
    response.setHeader('content-type', types[extname(file)] ?? 'application/octet-stream');
    createReadStream(file)
      .on('error', () => response.destroy())
      .pipe(response);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () =>
      resolve({
        stop() {
          server.close();
          server.closeAllConnections();
        },
      }),
    );
  });
}

/**
 * The path of a request; undefined when its escapes are malformed or it leaves the folder.
 *
 * @param {string} url
 */
function pathOf(url) {
  try {
    const path = normalize(decodeURIComponent(new URL(url, 'http://localhost').pathname));
    return path.includes('\0') || path.includes('..') ? undefined : path;
  } catch {
    return undefined; // malformed escapes name no file
  }
}

/**
 * @param {string} folder
 * @param {string} path
 */
function fileIn(folder, path) {
  const file = join(folder, path);
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats?.isFile()) return file;
  const index = join(file, 'index.html');
  return stats?.isDirectory() && statSync(index, { throwIfNoEntry: false }) ? index : undefined;
}
