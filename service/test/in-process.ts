import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import { assemble, type Service } from '../src/program/assemble.ts';
import { type Config, readConfig } from '../src/program/config/config.ts';
import { type DevelopmentKeys, seedDevelopment } from '../src/program/development/seed.ts';
import type { Clock } from '../src/platform/time.ts';
import type { Database } from '../src/store/database.ts';
import { openDatabaseClock } from '../src/store/database-clock.ts';
import { openDatabase } from '../src/store/open-database.ts';
import { createPasswords } from '../src/access/credentials.ts';
import { copyMigratedDatabase, openEmptyDatabase } from './empty-database.ts';

/**
 * Creates a database on the server that `npm run test:database` uses and returns its URL. Returns undefined in other
 * test runs.
 */
async function createOnTestServer(): Promise<string | undefined> {
  if (process.env['TRUEWARD_TEST_SERVER'] === undefined) return undefined;
  // This function is also called outside Vitest, where the module cannot be imported.
  const { createPostgresDatabase } = await import('./postgres-database.ts');
  return createPostgresDatabase();
}

/** A service that runs in this process and listens on a port. Tests can read its database and set its clock. */
export interface InProcessService {
  /** The base URL. */
  url: string;
  keys: DevelopmentKeys;
  service: Service;
  config: Config;
  clock: Clock;
  stop(): Promise<void>;
}

interface Options {
  /** Default: the clock that the service opens itself. */
  clock?: Clock;
  /** Opens the service's clock. Default: as the service does. */
  openClock?: (database: Database, log: Logger) => Promise<Clock>;
  /** The data folder. Default: a new folder, which is removed when the service stops. */
  dataDirectory?: string;
  /** Default: logs to standard output at `LOG_LEVEL`. */
  log?: Logger;
}

/**
 * Starts the service from source, with the demo account. Uses an embedded database unless `DATABASE_URL` is set in
 * `env` or in the environment. All test files in a worker share that database, and each call empties it.
 *
 * @param env the environment variables for `trueward-service start`
 * @example
 * const clock = createManualClock(Date.now());
 * const running = await startInProcess({ RATE_LIMITS: 'off' }, { clock });
 * const client = createClient(running);
 */
export async function startInProcess(
  env: Record<string, string> = {},
  { clock, openClock, dataDirectory, log: givenLog }: Options = {},
): Promise<InProcessService> {
  const folder = dataDirectory ?? mkdtempSync(join(tmpdir(), 'trueward-'));
  const { TRUEWARD_MASTER_KEY } = process.env;
  const DATABASE_URL =
    env['DATABASE_URL'] ?? process.env['DATABASE_URL'] ?? (await createOnTestServer());
  const config = readConfig({
    DATABASE_URL,
    TRUEWARD_MASTER_KEY,
    LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'silent',
    PORT: '0',
    TRUEWARD_DEVELOPMENT: '1',
    TRUEWARD_DATA_DIR: folder,
    ...env,
  });
  const isEmbedded = config.databaseUrl === undefined;
  if (isEmbedded && dataDirectory !== undefined)
    await copyMigratedDatabase(join(dataDirectory, 'database'));
  const log = givenLog ?? pino({ level: config.logLevel });
  const service = await assemble(
    config,
    async (database) =>
      clock ??
      openClock?.(database, log) ??
      openDatabaseClock({ database, embedded: isEmbedded, log }),
    log,
    isEmbedded && dataDirectory === undefined ? openEmptyDatabase : openDatabase,
    createPasswords({ N: 2 ** 10, r: 8, p: 1 }),
  );
  const publicUrl = service.setListenUrl(await service.app.listen({ host: config.host, port: 0 }));
  const { port } = service.app.server.address() as AddressInfo;
  return {
    url: `http://${config.host}:${port}`,
    keys: await seedDevelopment(service, service.clock, folder, publicUrl),
    service,
    config,
    clock: service.clock,
    async stop() {
      await service.stop();
      if (dataDirectory === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}
