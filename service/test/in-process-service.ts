import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { assemble, type Service } from '../src/assemble.ts';
import { type Config, readConfig } from '../src/config.ts';
import { seedDevelopment, type DevelopmentKeys } from '../src/development/seed.ts';
import type { Clock } from '../src/platform/clock.ts';
import { copyEmptyDatabase } from './empty-database.ts';

/** A clock that the test moves. */
export interface SteerableClock extends Clock {
  set(ms: number): void;
}

export function createSteerableClock(startMs: number): SteerableClock {
  let now = startMs;
  return {
    nowMs: () => now,
    set(ms) {
      if (ms < now) throw new Error(`The clock of the service cannot go back by ${now - ms} ms.`);
      now = ms;
    },
  };
}

/** The real service on a real port, in this process, so that its clock can be moved. */
export interface InProcessService {
  url: string;
  keys: DevelopmentKeys;
  service: Service;
  config: Config;
  stop(): Promise<void>;
}

interface Options {
  clock: Clock;
  /** Absent: an embedded database. */
  databaseUrl?: string;
  /** Absent: a new folder, removed at the end. */
  dataDirectory?: string;
  /** More variables of the configuration. */
  env?: Record<string, string>;
}

export async function startInProcess(options: Options): Promise<InProcessService> {
  const { clock, databaseUrl } = options;
  const dataDirectory = options.dataDirectory ?? mkdtempSync(join(tmpdir(), 'trueward-'));
  if (databaseUrl === undefined) await copyEmptyDatabase(join(dataDirectory, 'database'));
  const config = readConfig({
    ...options.env,
    TRUEWARD_DATA_DIR: dataDirectory,
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    PORT: '0',
    PUBLIC_URL: 'http://service.test',
    TRUEWARD_MEDIA_DIR: fileURLToPath(new URL('../../demo/creatives/dist', import.meta.url)),
    TRUEWARD_DEVELOPMENT: '1',
    RATE_LIMITS: 'off',
  });
  const service = await assemble(
    config,
    clock,
    pino({ level: process.env['LOG_LEVEL'] ?? 'silent' }),
  );
  await service.app.listen({ host: config.host, port: 0 });
  const { port } = service.app.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  service.listensOn(url);
  const keys = await seedDevelopment(service, clock, dataDirectory, 'http://service.test');
  return {
    url,
    keys,
    service,
    config,
    async stop() {
      await service.stop();
      if (options.dataDirectory === undefined)
        rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}
