import {
  type PrivatePostgres,
  startPrivatePostgres,
} from '../../../service/test/private-postgres.ts';
import { type RunningService, startService } from '../../../service/test/start-service.ts';
import { type Client, createClient } from './ads.ts';
import type { BuildUnderTest } from './builds.ts';
import { type Meter, openMeter } from './meter.ts';

/** A build of the service in a separate process, with its own PostgreSQL server or the embedded database. */
export interface Side {
  name: 'this build' | 'older build' | 'embedded';
  service: RunningService;
  /** Undefined for the embedded database. */
  databaseUrl: string | undefined;
  meter: Meter;
  live: Client;
  sandbox: Client;
  stop(): Promise<void>;
}

/** Starts a side. If `build` is omitted, starts this build with the embedded database. */
export async function startSide(connections: number, build?: BuildUnderTest): Promise<Side> {
  const postgres = build && (await requirePostgres());
  const service = await startService({
    ...(build?.main === undefined ? {} : { main: build.main }),
    env: {
      RATE_LIMITS: 'off',
      // Each build runs with the Node options from its own files in `deploy/`. The older build's files set none.
      ...(build?.name === 'older build' ? {} : { NODE_OPTIONS: '--max-semi-space-size=32' }),
      ...(postgres ? { DATABASE_URL: postgres.url } : {}),
    },
  });
  const meter = await openMeter([service.process.pid ?? 0], postgres);
  const live = createClient(service.url, service.keys.live, connections);
  const sandbox = createClient(service.url, service.keys.sandbox, connections);
  return {
    name: build?.name ?? 'embedded',
    service,
    databaseUrl: postgres?.url,
    meter,
    live,
    sandbox,
    async stop() {
      await live.close();
      await sandbox.close();
      await meter.close();
      await service.stop();
      await postgres?.stop();
    },
  };
}

/** @throws Error if PostgreSQL is not installed. */
export async function requirePostgres(): Promise<PrivatePostgres> {
  const postgres = await startPrivatePostgres();
  if (!postgres) throw new Error('PostgreSQL is not installed.');
  return postgres;
}
