import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RunningService, startService } from '../../service/test/start-service.ts';
import { createDemand } from '../../service/test/demo-demand.ts';
import { startReady } from './ready-process.ts';

/**
 * The built service, game server and SDK, with a test page and fresh data. The demo account's ads are images that must
 * be watched for one second and can be closed immediately. These placements also earn 25 coins:
 * - `film`: a three-second video
 * - `long`: an image that must be watched for five seconds
 * - `long-film`: a twelve-second video
 * - `html`: an HTML ad that must be watched for one second
 */
export interface Stack {
  serviceUrl: string;
  gameServerUrl: string;
  keys: RunningService['keys'];
  /** Returns the URL of the plain page for this player. */
  pageFor(player: string): string;
  /** Returns the coins that the game server has credited to this player. */
  account(player: string): Promise<{ coins: number; credits: { decisionId: string }[] }>;
  killService(): Promise<void>;
  restartService(): Promise<void>;
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL('../../', import.meta.url));

export async function startStack(): Promise<Stack> {
  const data = await mkdtemp(join(tmpdir(), 'trueward-e2e-'));
  const start = (port: string): Promise<RunningService> =>
    startService({
      dataDir: data,
      env: { PORT: port, TRUEWARD_MEDIA_DIR: join(root, 'demo/creatives/dist') },
    });
  let service = await start('0');
  const { keys, url: serviceUrl } = service;
  const gameServer = await startReady<{ url: string }>(join(root, 'demo/dist/server/main.js'), {
    PORT: '0',
    SERVICE_URL: serviceUrl,
    SECRET_KEY: keys.sandbox.secret,
    PUBLISHABLE_KEY: keys.sandbox.publishable,
    DATA_DIR: join(data, 'game-server'),
  }).catch(async (error: unknown) => {
    // The caller receives no stack to stop, so the service must be stopped here.
    await service.stop();
    throw error;
  });
  const pages = await servePages();
  await shortenWatchTimes(service, pages.url);

  return {
    serviceUrl,
    gameServerUrl: gameServer.ready.url,
    keys,
    pageFor: (player) =>
      `${pages.url}/plain.html?${new URLSearchParams({
        key: keys.sandbox.publishable,
        service: serviceUrl,
        user: player,
      })}`,
    async account(player) {
      const response = await fetch(`${gameServer.ready.url}/players/${player}`);
      return (await response.json()) as Awaited<ReturnType<Stack['account']>>;
    },
    killService: () => service.kill(),
    async restartService() {
      service = await start(new URL(serviceUrl).port);
    },
    async stop() {
      await Promise.all([service.stop(), gameServer.stop(), pages.close()]);
      await rm(data, { recursive: true, force: true });
    },
  };
}

async function shortenWatchTimes(service: RunningService, mediaUrl: string): Promise<void> {
  const demand = createDemand(service);
  for (const name of ['revive', 'double-coins', 'level-end', 'earn-gems', 'double-sparks'])
    await demand.change('placements', name, { min_view_ms: 1_000, close_after_ms: 0 });
  await demand.change('house-ads', 'Meadow', { status: 'paused' });
  await demand.change('house-ads', 'Lantern', { status: 'paused' });
  await demand.addCreative('Clip', {
    format: 'video',
    files: [{ url: `${mediaUrl}/media/clip.webm`, mime: 'video/webm', width: 640, height: 360 }],
    duration_ms: 3_000,
  });
  const rewardedPlacement = { format: 'rewarded', min_view_ms: 5_000 };
  await demand.addPlacement('Clip', { ...rewardedPlacement, name: 'film' });
  await demand.addPlacement('Harbour', { ...rewardedPlacement, name: 'long' });
  await demand.addPlacement('Meadow', { ...rewardedPlacement, name: 'long-film' });
  await demand.addPlacement('Lantern', { ...rewardedPlacement, min_view_ms: 1_000, name: 'html' });
}

const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.webm': 'video/webm',
};
const folders = [
  ['/dist/', '.'],
  ['/media/', 'test'],
  ['/', 'test/e2e/pages'],
] as const;

/**
 * Serves `pages/`, the built SDK under `/dist`, and the tests' media under `/media`. With `?isolated=<policy>`, a page is
 * cross-origin isolated.
 */
async function servePages(): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(({ url = '/' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const policy = searchParams.get('isolated');
    if (policy !== null) {
      response.setHeader('cross-origin-opener-policy', 'same-origin');
      response.setHeader('cross-origin-embedder-policy', policy);
    }
    const [, folder] = folders.find(([start]) => pathname.startsWith(start)) ?? folders[2];
    const file = join(root, folder, pathname);
    createReadStream(file)
      .on('open', () => response.setHeader('content-type', types[extname(file)] ?? 'text/plain'))
      .on('error', () => response.writeHead(404).end())
      .pipe(response);
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
