/**
 * `npm run bench:history` measures what operators' reads cost as the history grows, and whether they delay ads: a service
 * on PostgreSQL with events and deliveries of four weeks, generated in bulk.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Job, Webhook } from '../../../protocol/wire.ts';
import { load } from '../../../service/test/load.ts';
import { type RunningService, startService } from '../../../service/test/start-service.ts';
import { percentile } from '../outbox/statistics.ts';
import { createDatabase, type Meter, openMeter } from '../service/meter.ts';
import { requirePostgres } from '../service/side.ts';
import { addHistory, addRollups } from './fill.ts';

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '100000,1000000' },
    seconds: { type: 'string', default: '20' },
    help: { type: 'boolean' },
  },
});
if (values.help === true) {
  console.log(`npm run bench:history [-- --sizes 1000000,20000000 --seconds 60]

--sizes: stored events, each with a delivery; about 1.5 GB per million. --seconds: length of a load run.
Requires PostgreSQL. Takes about 3 minutes with the default sizes.`);
  process.exit();
}
const seconds = Number(values.seconds);
const hourMs = 3_600_000;
const formatHour = (ms: number): string => new Date(Math.floor(ms / hourMs) * hourMs).toISOString();

const postgres = await requirePostgres();
const databaseUrl = await createDatabase(postgres);
const service = await startService({ env: { RATE_LIMITS: 'off', DATABASE_URL: databaseUrl } });
const meter = await openMeter([service.process.pid ?? 0], postgres, databaseUrl);
try {
  const webhook = await call<Webhook>(service, 'POST', '/v1/webhooks', {
    url: 'https://receiver.invalid/',
    events: ['decision.rewarded'],
  });
  const [account] = await meter.query<{ id: string }>(
    `SELECT account_id AS id FROM accounts WHERE name = 'Demo'`,
  );
  const owner = { accountId: account?.id ?? '', webhookId: webhook.id };
  await addRollups(meter, owner.accountId);
  let stored = 0;
  for (const size of values.sizes.split(',').map(Number)) {
    const startedAtMs = performance.now();
    await addHistory(meter, databaseUrl, owner, size - stored);
    stored = size;
    const [bytes] = await meter.query<{ gib: number }>(
      `SELECT round(pg_database_size(current_database()) / 1073741824.0, 2)::float8 AS gib`,
    );
    console.log(
      `\n${size.toLocaleString('en')} events and deliveries, ${bytes?.gib} GiB, generated in ${((performance.now() - startedAtMs) / 1_000).toFixed(0)} s`,
    );
    console.table(await measurePages(service, webhook.id));
    console.table(await measureAds(service, meter, webhook.id));
  }
} finally {
  await meter.close();
  await service.stop();
  await postgres.stop();
}

function listPages(webhookId: string): Record<string, string> {
  const quarter = `from=${formatHour(Date.now() - 90 * 24 * hourMs)}&to=${formatHour(Date.now())}`;
  return {
    'all deliveries of a webhook': `/v1/webhooks/${webhookId}/deliveries?limit=100`,
    'failed deliveries': `/v1/webhooks/${webhookId}/deliveries?state=failed&limit=5`,
    'pending deliveries, none': `/v1/webhooks/${webhookId}/deliveries?state=pending&limit=5`,
    'webhook events': '/v1/webhook-events?limit=100',
    'webhook events of a rare type': '/v1/webhook-events?type=creative.review_updated&limit=100',
    'audit log': '/v1/audit-entries?limit=100',
    'a quarter by day and placement': `/v1/reports?${quarter}&group_by=placement`,
  };
}

/** Reads each page twenty times. */
async function measurePages(
  target: RunningService,
  webhookId: string,
): Promise<Record<string, string | number>[]> {
  const rows = [];
  for (const [name, path] of Object.entries(listPages(webhookId))) {
    const times: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      const startedAtMs = performance.now();
      await call(target, 'GET', path);
      times.push(performance.now() - startedAtMs);
    }
    rows.push({
      page: name,
      'median, ms': format(percentile(times, 0.5)),
      'slowest, ms': format(Math.max(...times)),
    });
  }
  return rows;
}

/** Measures ads alone, and while operators read, a recovery runs and a kill switch is toggled every second. */
async function measureAds(
  target: RunningService,
  { measure }: Meter,
  webhookId: string,
): Promise<Record<string, string | number>[]> {
  const rows = [];
  await decide(target, 5);
  for (const isBusy of [false, true]) {
    const stopping = new AbortController();
    const switches: number[] = [];
    const work = isBusy ? keepBusy(target, webhookId, stopping.signal, switches) : undefined;
    let latencies: number[] = [];
    const cost = await measure(1, async () => (latencies = await decide(target, seconds)));
    stopping.abort();
    await work;
    rows.push({
      operators: isBusy ? 'three read, recover and stop' : 'away',
      'decisions/s': Math.round(latencies.length / seconds),
      'p50, ms': format(percentile(latencies, 0.5)),
      'p99, ms': format(percentile(latencies, 0.99)),
      'CPU of all work, ms/s': Math.round((cost.serviceUs + cost.databaseUs) / seconds / 1_000),
      'switch in force, ms': switches.length === 0 ? '' : format(Math.max(...switches)),
    });
  }
  return rows;
}

/** Panels poll every ten seconds; three of them that read a page every 100 ms stand for many. */
async function keepBusy(
  target: RunningService,
  webhookId: string,
  stopping: AbortSignal,
  switches: number[],
): Promise<void> {
  const since = new Date(Date.now() - 27 * 24 * hourMs).toISOString();
  const job = await call<Job>(
    target,
    'POST',
    `/v1/webhooks/${webhookId}/recover?since=${since}&state=missed`,
  );
  const read = async (): Promise<void> => {
    while (!stopping.aborted)
      for (const path of Object.values(listPages(webhookId))) {
        await call(target, 'GET', path);
        await sleep(100);
      }
  };
  const toggle = async (): Promise<void> => {
    while (!stopping.aborted) {
      const startedAtMs = performance.now();
      const stop = { scope: 'placement', target_id: 'lobby', state: 'on' };
      const { id } = await call<{ id: string }>(target, 'POST', '/v1/kill-switches', stop);
      switches.push(performance.now() - startedAtMs);
      await call(target, 'DELETE', `/v1/kill-switches/${id}`);
      await sleep(1_000);
    }
  };
  await Promise.all([read(), read(), read(), toggle()]);
  await call(target, 'POST', `/v1/jobs/${job.id}/cancel`);
}

let players = 0;
/** Requests decisions at a moderate rate: four connections. Returns their latencies. */
async function decide({ url, keys }: RunningService, forSeconds: number): Promise<number[]> {
  const body = (): string =>
    JSON.stringify({ placement: 'revive', user_ref: `player-${(players += 1)}` });
  const target = { url, path: '/v1/decisions', key: keys.live.publishable, body, connections: 4 };
  return (await load(target, forSeconds * 1_000)).latencies;
}

async function call<T>(
  { url, keys }: RunningService,
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${keys.live.secret}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

function format(ms: number | undefined): string {
  return (ms ?? NaN).toFixed(1);
}
