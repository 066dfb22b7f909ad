import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** A page that the host serves. */
export interface HostedPage {
  body: string;
  /** The value of the page's `Content-Security-Policy` header. */
  policy?: string;
}

/** A web server for a test's pages, the script tags and a game's script. */
export interface Host {
  /** The server's URL. */
  url: string;
  /** The server's URL with a different host name. Browsers treat it as a different site. */
  otherSiteUrl: string;
  set(path: string, page: HostedPage): void;
  stop(): Promise<void>;
}

const root = join(import.meta.dirname, '..', '..', '..');
const gameFile = join(import.meta.dirname, 'game.js');

export async function startHost(): Promise<Host> {
  const pages = new Map<string, HostedPage>();
  const server = createServer(({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://host');
    const page = pages.get(pathname);
    if (page) {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      if (page.policy) response.setHeader('content-security-policy', page.policy);
      return void response.end(page.body);
    }
    const file = /^\/dist\/[\w-]+\.js$/.test(pathname) ? join(root, pathname) : gameFile;
    readFile(file).then(
      (body) => {
        // CDNs send this header too. Browsers require it for Subresource Integrity checks of cross-origin scripts.
        response.writeHead(200, {
          'content-type': 'text/javascript',
          'access-control-allow-origin': '*',
        });
        response.end(body);
      },
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    otherSiteUrl: `http://localhost:${port}`,
    set: (path, page) => void pages.set(path, page),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
