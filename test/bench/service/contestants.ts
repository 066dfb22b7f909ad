import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { startService } from '../../../service/test/start-service.ts';
import { load, type Window } from '../../../service/test/load.ts';
import { openPostgres } from '../../../service/src/store/postgres.ts';
import { percentile } from '../outbox/statistics.ts';
import { processorTimeUs } from './processor-time.ts';

export type Name = 'echo' | 'durableEcho' | 'postgresql' | 'embedded';

/** A window with the processor time that one request cost. */
export interface Measured {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Of the process that answers, its database thread included. */
  cpuUs: number;
  /** Of the PostgreSQL server, where there is one. */
  databaseCpuUs?: number;
}

export interface Contestant {
  name: Name;
  measure(ms: number): Promise<Measured>;
  stop(): Promise<unknown>;
}

let users = 0;
/** Each from another player, so that nothing is answered from what was known. */
const decisionRequest = (): string =>
  JSON.stringify({ placement: 'revive', user_ref: `player-${(users += 1)}`, locale: 'en' });

/** With a database it stores what it sends back. */
export async function startEcho(databaseUrl?: string): Promise<Contestant> {
  const file = databaseUrl === undefined ? ['echo.mjs'] : ['durable-echo.mjs', databaseUrl];
  const child = spawn(process.execPath, file, {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { url } = JSON.parse(line) as { url: string };
  return {
    name: databaseUrl === undefined ? 'echo' : 'durableEcho',
    async measure(ms) {
      const before = processorTimeUs(child.pid ?? 0);
      const window = await load({ url, path: '/', body: decisionRequest }, ms);
      const spent = processorTimeUs(child.pid ?? 0) - before;
      return { ...summary(window), cpuUs: spent / window.latencies.length };
    },
    async stop() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

/** The service as it is delivered, with its limits off: a flood from one address is the point here. */
export async function startContestant(databaseUrl?: string): Promise<Contestant> {
  const service = await startService({
    env: {
      RATE_LIMITS: 'off',
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    },
  });
  const target = {
    url: service.url,
    path: '/v1/decisions',
    // The sandbox also explains each decision, which is for people who try things.
    key: service.keys.live.publishable,
    body: decisionRequest,
  };
  const pid = service.process.pid ?? 0;
  return {
    name: databaseUrl === undefined ? 'embedded' : 'postgresql',
    async measure(ms) {
      const before = [processorTimeUs(pid), await serverTimeUs(databaseUrl)] as const;
      const window = await load(target, ms);
      const after = [processorTimeUs(pid), await serverTimeUs(databaseUrl)] as const;
      const count = window.latencies.length;
      return {
        ...summary(window),
        cpuUs: (after[0] - before[0]) / count,
        ...(databaseUrl === undefined ? {} : { databaseCpuUs: (after[1] - before[1]) / count }),
      };
    },
    stop: service.stop,
  };
}

/** Of all processes of a PostgreSQL server on this machine but the one that is asked. */
async function serverTimeUs(databaseUrl: string | undefined): Promise<number> {
  if (databaseUrl === undefined) return 0;
  const database = openPostgres(databaseUrl, (error) => console.error(error));
  const rows = await database.query<{ pid: number }>(
    'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()',
  );
  await database.close();
  return rows.reduce((sum, { pid }) => sum + processorTimeUs(pid), 0);
}

const summary = ({ perSecond, latencies }: Window) => ({
  perSecond,
  p50Ms: percentile(latencies, 0.5) ?? 0,
  p99Ms: percentile(latencies, 0.99) ?? 0,
});
