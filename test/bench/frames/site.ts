import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build, type Plugin } from 'vite';
import type { EventBatch } from '../../../protocol/wire.ts';

const folder = import.meta.dirname;
const modules = join(folder, '../../../node_modules');

/** The Phaser versions, with their package aliases. */
export const phasers = { '4.2': 'phaser', '3.90': 'phaser3', '3.60': 'phaser360' };

const renderPage = (version: string): string => `<!doctype html><title>Frames</title>
<script src="/timers.js"></script><script src="/phaser-${version}.js"></script>
<script src="/sdk.js"></script><script src="/peer.js"></script><script src="/bench.js"></script>`;

/** Makes the peer import the copy of Phaser that the page has already loaded. */
const pagePhaserPlugin: Plugin = {
  name: 'page-phaser',
  resolveId: (id) => (id === 'phaser' ? '\0phaser' : undefined),
  load: (id) => (id === '\0phaser' ? 'export const { Plugins } = window.Phaser;' : undefined),
};

/** Bundles a file into a classic script. The script isn't minified, so that a profile shows its function names. */
async function bundle(entry: string, name: string): Promise<string> {
  const results = await build({
    configFile: false,
    root: folder,
    logLevel: 'error',
    resolve: { tsconfigPaths: true },
    plugins: [pagePhaserPlugin],
    build: {
      target: 'es2022',
      minify: false,
      write: false,
      lib: { entry, formats: ['iife'], name },
      rolldownOptions: { output: { codeSplitting: false } },
    },
  });
  const [result] = [results].flat();
  if (result === undefined || !('output' in result)) throw new Error(`${entry} was not built.`);
  return result.output[0].code;
}

/** Serves the pages and a stub service that accepts every event and rewards every completion. */
export async function startSite(peer?: string): Promise<{ url: string; close(): Promise<void> }> {
  const files = new Map<string, string>([
    ['/sdk.js', await bundle(join(folder, 'page/sdk.ts'), 'Sdk')],
    ['/bench.js', await bundle(join(folder, 'page/bench.ts'), 'Bench')],
    ['/timers.js', await bundle(join(folder, 'page/count-timers.ts'), 'Timers')],
    ['/peer.js', peer === undefined ? '' : await bundle(join(peer, 'lib/index.js'), 'Peer')],
  ]);
  for (const [version, name] of Object.entries(phasers)) {
    files.set(
      `/phaser-${version}.js`,
      await readFile(join(modules, name, 'dist/phaser.min.js'), 'utf8'),
    );
    files.set(`/${version}.html`, renderPage(version));
  }
  const watchedIds = new Set<string>();
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    const file = files.get(path);
    // In cross-origin isolated pages, `performance.now()` has a resolution of 5 microseconds instead of 100.
    response.setHeader('cross-origin-opener-policy', 'same-origin');
    response.setHeader('cross-origin-embedder-policy', 'require-corp');
    if (file === undefined) void respond(path, request, response, watchedIds);
    else response.setHeader('content-type', findContentType(path)).end(file);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const findContentType = (path: string): string =>
  path.endsWith('.js') ? 'text/javascript' : 'text/html';

async function respond(
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  watchedIds: Set<string>,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  response.setHeader('content-type', 'application/json');
  const createStatus = (id: string) =>
    watchedIds.has(id)
      ? { id, state: 'earned', reward: { type: 'coins', amount: 1 } }
      : { id, state: 'pending' };
  if (path !== '/v1/events') {
    response.end(JSON.stringify(createStatus(path.split('/').at(-1) ?? '')));
    return;
  }
  const { events } = JSON.parse(Buffer.concat(chunks).toString()) as EventBatch;
  for (const event of events) if (event.type === 'complete') watchedIds.add(event.decision_id);
  const ids = new Set(events.map((event) => event.decision_id));
  const results = events.map(({ id }) => ({ id, status: 'accepted' }));
  response.end(JSON.stringify({ results, decisions: [...ids].map(createStatus) }));
}
