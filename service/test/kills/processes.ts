import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import getPort from 'get-port';
import type { Database } from '../../src/store/database.ts';
import { openPGlite } from '../../src/store/pglite/open-pglite.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { type RunningService, startService } from '../start-service.ts';

/** Where the killed processes store their data. */
export interface KillStore {
  dataDir: string;
  /** Default: the embedded database in `dataDir`, which supports only one process. */
  databaseUrl?: string | undefined;
}

/** Opens the database as a service process would. */
export const openKillStore = async ({ dataDir, databaseUrl }: KillStore): Promise<Database> =>
  databaseUrl === undefined
    ? openPGlite(join(dataDir, 'database'), () => undefined)
    : openPostgres(databaseUrl, () => undefined);

/** Service processes that are killed and started again: two, or one on the embedded database. */
export interface Processes {
  /** The URLs, which stay the same. */
  urls: readonly string[];
  /** The first process's URL and the demo account's keys. */
  first: Pick<RunningService, 'url' | 'keys'>;
  /** Kills a random process with SIGKILL, runs `whileDown`, and starts another process in its place. */
  killRandomProcess(whileDown?: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

export async function startProcesses(
  store: KillStore,
  env: Record<string, string> = {},
): Promise<Processes> {
  const { dataDir, databaseUrl } = store;
  const ports = await Promise.all(
    Array.from({ length: databaseUrl === undefined ? 1 : 2 }, () => getPort({ host: '127.0.0.1' })),
  );
  const start = (port: number): Promise<RunningService> =>
    startService({
      dataDir,
      env: {
        PORT: String(port),
        RATE_LIMITS: 'off',
        // Without this setting, each process would use its own URL in media URLs.
        PUBLIC_URL: 'http://service.test',
        ...env,
        ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
      },
    });
  const services: RunningService[] = [];
  for (const port of ports) services.push(await start(port));
  const [{ keys }] = services as [RunningService];
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  let isStopped = false;
  return {
    urls,
    first: { url: urls[0] ?? '', keys },
    async killRandomProcess(whileDown) {
      const index = Math.floor(Math.random() * services.length);
      await services[index]?.kill();
      await whileDown?.();
      services[index] = await start(ports[index] ?? 0);
    },
    async stop() {
      if (isStopped) return;
      isStopped = true;
      await Promise.all(services.map((service) => service.stop()));
    },
  };
}

/** How long players may make no progress before the run is given up. */
const stallMs = 300_000;

/**
 * Resolves when the count is reached.
 *
 * @throws Error when it hasn't grown for five minutes.
 */
export async function waitForCount(readCount: () => number, count: number): Promise<void> {
  let [last, lastMs] = [readCount(), performance.now()];
  while (readCount() < count) {
    await sleep(20);
    if (readCount() !== last) [last, lastMs] = [readCount(), performance.now()];
    if (performance.now() - lastMs > stallMs)
      throw new Error(`The players make no progress: ${last} of ${count} changes.`);
  }
}
