import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, extname, join } from 'node:path';
import { build } from 'esbuild';
import { keyChecksum } from '../../../src/platform/key-format.ts';
import { respondAsService } from './faulty-service.ts';

/** A page with a bundled game, and a faulty service on another origin. */
export interface Site {
  serviceUrl: string;
  /** The names of the page's script and of the files that it loads. */
  files: string[];
  /** Whether the request for one of these files fails with a 503. Called once per request. */
  isDown(fileName: string): boolean;
  /** Returns the URL of a page that shows an ad for `placement`. `faulty-service.ts` defines the placements. */
  pageFor(placement: string, more?: Record<string, string>): string;
  stop(): Promise<void>;
}

const folder = import.meta.dirname;
const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
};
const keyBody = `pk_sandbox_0123456789_${'0aB9'.repeat(5)}`;
const key = keyBody + keyChecksum(keyBody);

/** The page's content security policy. The guide recommends `strict`: Trusted Types without exceptions. */
type Policy = 'none' | 'strict' | 'inline creatives';

export async function startSite(policy: Policy = 'none'): Promise<Site> {
  const scripts = await bundle();
  const service = createServer(
    (request, response) => void respondAsService(request, response, serviceUrl),
  );
  const serviceUrl = await listen(service);
  const allowsInline = policy === 'inline creatives';
  const policyHeader = [
    `default-src 'none'; script-src 'self' ${allowsInline ? "'unsafe-inline'" : ''}; style-src 'self'; connect-src ${serviceUrl};`,
    `frame-src ${serviceUrl}; media-src ${serviceUrl}; img-src ${serviceUrl};`,
    `require-trusted-types-for 'script'; trusted-types ${allowsInline ? 'trueward' : "'none'"}`,
  ].join(' ');

  async function respond({ url = '/' }: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(url, 'http://page');
    const name = pathname === '/' ? 'index.html' : pathname.slice(1);
    const body =
      scripts.get(name) ?? (await readFile(join(folder, 'page', name)).catch(() => undefined));
    if (body === undefined) return void response.writeHead(404).end();
    if (scripts.has(name) && site.isDown(name)) return void response.writeHead(503).end();
    response.setHeader('content-type', types[extname(name)] ?? 'text/plain');
    if (policy !== 'none') response.setHeader('content-security-policy', policyHeader);
    response.end(body);
  }
  const pages = createServer((request, response) => void respond(request, response));
  const pageUrl = await listen(pages);

  const site: Site = {
    serviceUrl,
    files: Array.from(scripts.keys()),
    isDown: () => false,
    pageFor: (placement, more = {}) =>
      `${pageUrl}/?${new URLSearchParams({ key, service: serviceUrl, placement, ...more })}`,
    async stop() {
      await Promise.all([close(service), close(pages)]);
    },
  };
  return site;
}

/** Bundles the page's script. Returns the script and its chunks, keyed by file name. */
async function bundle(): Promise<Map<string, Uint8Array>> {
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'page/game.ts')],
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    write: false,
    outdir: folder,
    logLevel: 'error',
  });
  return new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]));
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
