import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { assemble, type Service } from '../src/assemble.ts';
import { readConfig } from '../src/config.ts';
import { type DevelopmentKeys, seedDevelopment } from '../src/development/seed.ts';
import { systemClock } from '../src/platform/clock.ts';
import { copyEmptyDatabase } from './empty-database.ts';

/** A service in this process, on a real port: its database can be looked into. */
export interface InProcessService {
  url: string;
  keys: DevelopmentKeys;
  service: Service;
  stop(): Promise<void>;
}

/**
 * Starts the service from its sources with the demo account, on the database of `DATABASE_URL` if there is
 * one; `env` as for `trueward-service start`.
 */
export async function startInProcess(env: Record<string, string> = {}): Promise<InProcessService> {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-'));
  await copyEmptyDatabase(join(folder, 'database'));
  const { DATABASE_URL, TRUEWARD_MASTER_KEY } = process.env;
  const config = readConfig({
    DATABASE_URL,
    TRUEWARD_MASTER_KEY,
    PORT: '0',
    TRUEWARD_DEVELOPMENT: '1',
    TRUEWARD_DATA_DIR: folder,
    ...env,
  });
  const service = await assemble(config, systemClock, pino({ level: 'silent' }));
  const url = service.listensOn(await service.app.listen({ host: '127.0.0.1', port: 0 }));
  return {
    url,
    keys: await seedDevelopment(service, systemClock, folder, url),
    service,
    async stop() {
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
