/**
 * `npm run bench:partial` measures webhook deliveries by the service on PostgreSQL to a receiver of which a part fails,
 * hangs or slows down.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readOptions } from '../../../scripts/lib/read-options.mjs';
import type { KillSwitch } from '../../../protocol/wire.ts';
import type { PrivatePostgres } from '../../../service/test/private-postgres.ts';
import { startService } from '../../../service/test/start-service.ts';
import { multiply } from '../scale/one-endpoint.ts';
import { createClient } from '../service/ads.ts';
import { createDatabase, openMeter } from '../service/meter.ts';
import { nowMs } from '../service/receiver.ts';
import { requirePostgres } from '../service/side.ts';

interface Scenario {
  name: string;
  behavior: string;
  backlog: number;
  /** When the receiver becomes well. */
  recoversAfterMs?: number;
}

const limitMs = 120_000;
const scenarios = {
  well: { name: 'well', behavior: 'well', backlog: 6_000 },
  shaky: { name: '11 % quick 503, 3 % hang', behavior: 'shaky', backlog: 6_000 },
  third: { name: 'one of three replicas hangs', behavior: 'third', backlog: 3_000 },
  half: { name: 'one of two replicas hangs', behavior: 'half', backlog: 2_000 },
  rising: { name: 'latency rises above 10 requests', behavior: 'rising', backlog: 3_000 },
  recovery: {
    name: 'all 503 for 15 s, then well',
    behavior: 'failing',
    backlog: 9_000,
    recoversAfterMs: 15_000,
  },
} satisfies Record<string, Scenario>;

const values = readOptions({
  name: 'bench:partial',
  about: `Measures webhook deliveries by the service on PostgreSQL to a receiver of which a part fails, hangs or slows down.
Requires PostgreSQL. Takes about 5 minutes.`,
  options: {
    only: {
      type: 'name',
      names: Object.keys(scenarios) as (keyof typeof scenarios)[],
      several: true,
      help: 'scenarios to measure',
    },
    main: { type: 'text', shown: 'main.js', help: 'measures another build' },
  },
});

const postgres = await requirePostgres();
const rows: Record<string, string | number>[] = [];
for (const key of values.only) {
  const row = await measure(postgres, scenarios[key]);
  console.log(row);
  rows.push(row);
}
console.table(rows);
await postgres.stop();

async function measure(
  server: PrivatePostgres,
  { name, behavior, backlog, recoversAfterMs }: Scenario,
): Promise<Record<string, string | number>> {
  const databaseUrl = await createDatabase(server);
  const service = await startService({
    ...(values.main === undefined ? {} : { main: values.main }),
    env: { RATE_LIMITS: 'off', DATABASE_URL: databaseUrl },
  });
  const client = createClient(service.url, service.keys.sandbox, 1);
  const meter = await openMeter([service.process.pid ?? 0], server, databaseUrl);
  const receiver = await startReceiver();
  try {
    const webhook = await client.addWebhook(`${receiver.url}/partial`, 'kill_switch.changed');
    await client.call<KillSwitch>('POST', '/v1/kill-switches', {
      scope: 'placement',
      target_id: 'lobby',
      state: 'on',
      reason: 'bench:partial',
    });
    await receiver.waitFor(1, 30_000);
    await meter.settle();
    receiver.clear();
    receiver.behave(behavior);
    const startedAtMs = nowMs();
    await multiply(meter, webhook, backlog);
    let recoveredAtMs = startedAtMs;
    if (recoversAfterMs !== undefined) {
      await sleep(recoversAfterMs);
      receiver.behave('well');
      recoveredAtMs = nowMs();
    }
    await receiver.waitFor(backlog, limitMs);
    const acceptedMs = [...receiver.accepted.values()].toSorted((a, b) => a - b);
    const most = acceptedMs.slice(0, Math.ceil(0.9 * acceptedMs.length));
    const [firstMs = 0, mostMs = 0, lastMs = 0] = [most[0], most.at(-1), acceptedMs.at(-1)];
    const full = 0.9 * findBestRate(acceptedMs);
    const isFullAt = (atMs: number): boolean =>
      countBetween(acceptedMs, atMs, atMs + 250) * 4 >= full;
    return {
      receiver: name,
      backlog,
      'deliveries/s (first 90 %)': Math.round((most.length * 1_000) / (mostMs - firstMs)),
      'longest wait, s': ((lastMs - startedAtMs) / 1_000).toFixed(1),
      undelivered: backlog - acceptedMs.length,
      'requests sent': receiver.requestTimes.length,
      'sent while failing':
        recoversAfterMs === undefined ? '' : countBetween(receiver.requestTimes, 0, recoveredAtMs),
      'full rate after, s': (
        ((acceptedMs.find(isFullAt) ?? Infinity) - recoveredAtMs) /
        1_000
      ).toFixed(1),
      'accepted twice': receiver.repeated,
    };
  } finally {
    await client.close();
    await meter.close();
    await service.stop();
    await receiver.stop();
  }
}

function countBetween(times: readonly number[], fromMs: number, toMs: number): number {
  return times.filter((atMs) => atMs >= fromMs && atMs < toMs).length;
}

/** Returns the highest rate over half a second, per second. Looks at every fiftieth time. */
function findBestRate(times: readonly number[]): number {
  const rates = times
    .filter((_, index) => index % 50 === 0)
    .map((atMs) => 2 * countBetween(times, atMs, atMs + 500));
  return Math.max(0, ...rates);
}

async function startReceiver() {
  const child = fork(join(import.meta.dirname, 'receiver.mjs'));
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  /** When each event was first accepted. */
  const accepted = new Map<string, number>();
  const requestTimes: number[] = [];
  const counts = { repeated: 0 };
  child.on('message', ({ requests }: { requests: { atMs: number; accepted?: string }[] }) => {
    for (const request of requests) {
      requestTimes.push(request.atMs);
      if (request.accepted === undefined) continue;
      if (accepted.has(request.accepted)) counts.repeated += 1;
      else accepted.set(request.accepted, request.atMs);
    }
  });
  return {
    url,
    accepted,
    requestTimes,
    get repeated() {
      return counts.repeated;
    },
    behave: (behavior: string) => child.send(behavior),
    async waitFor(count: number, timeoutMs: number) {
      const endAtMs = nowMs() + timeoutMs;
      while (accepted.size < count && nowMs() < endAtMs) await sleep(50);
    },
    clear() {
      accepted.clear();
      requestTimes.length = 0;
    },
    async stop() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}
