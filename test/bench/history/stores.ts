import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPGlite } from '../../../service/src/store/pglite/open-pglite.ts';
import type { Database } from '../../../service/src/store/database.ts';
import { openPostgres } from '../../../service/src/store/postgres.ts';
import {
  startPrivatePostgres,
  type PrivatePostgres,
} from '../../../service/test/private-postgres.ts';
import { type RunningService, startService } from '../../../service/test/start-service.ts';

/** A database that is filled and measured. */
export interface Store {
  name: 'PostgreSQL' | 'embedded';
  /** Undefined for the embedded database. */
  postgres: PrivatePostgres | undefined;
  /** The service's folder, which contains the embedded database. */
  folder: string;
  /** The service's environment. */
  env: Record<string, string>;
  /** Opens the database without a service. */
  open(): Promise<Database>;
  startService(): Promise<RunningService>;
  /** Deletes everything, unless the folder is kept. */
  stop(): Promise<void>;
}

const limits = { poolSize: 2, timeoutMs: 3_600_000, lockTimeoutMs: 60_000, pooler: false };
/** What PostgreSQL's manual recommends for this amount of memory and writes. */
const serverSettings = ['shared_buffers=2GB', 'max_wal_size=8GB', 'checkpoint_timeout=15min'];

/**
 * Opens a store.
 *
 * @param keptFolder where the data is kept for the next run (default: it is deleted at the end)
 * @param settings further settings of the service
 * @throws Error if PostgreSQL is not installed.
 */
export async function openStore(
  name: Store['name'],
  keptFolder?: string,
  settings: Record<string, string> = {},
): Promise<Store> {
  const folder = keptFolder ?? mkdtempSync(join(tmpdir(), 'trueward-history-'));
  const server = join(folder, 'postgres');
  mkdirSync(server, { recursive: true });
  // PostgreSQL's user has to reach its folder.
  chmodSync(folder, 0o711);
  const postgres =
    name === 'PostgreSQL'
      ? await startPrivatePostgres({
          folder: server,
          settings: serverSettings,
          keep: keptFolder !== undefined,
        })
      : undefined;
  if (name === 'PostgreSQL' && !postgres) throw new Error('PostgreSQL is not installed.');
  const serviceFolder = join(folder, 'service');
  mkdirSync(serviceFolder, { recursive: true });
  const env = {
    RATE_LIMITS: 'off',
    NODE_OPTIONS: '--max-semi-space-size=32',
    ...(postgres ? { DATABASE_URL: postgres.url } : {}),
    ...settings,
  };
  return {
    name,
    postgres,
    folder: serviceFolder,
    env: { ...env, TRUEWARD_DATA_DIR: serviceFolder },
    open: async () =>
      postgres
        ? openPostgres(postgres.url, console.error, limits)
        : openPGlite(join(serviceFolder, 'database'), () => undefined),
    startService: () => startService({ dataDir: serviceFolder, env }),
    async stop() {
      await postgres?.stop();
      if (keptFolder === undefined && existsSync(folder)) rmSync(folder, { recursive: true });
    },
  };
}
