import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** A page that the host answers with. */
export interface HostedPage {
  body: string;
  /** Its content security policy. */
  policy?: string;
}

/** A web server with the script tags and a game's script, that a test puts its pages on. */
export interface Host {
  /** As players reach it. */
  url: string;
  /** The same server by another name, which is another site to a browser. */
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
        // As a CDN does it; without it, an integrity hash can't be checked from another origin.
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
