/**
 * `npm run bench:costs`: what a decision, its events and a delivery cost the service and PostgreSQL, in
 * processor time and in bytes. Writes docs/benchmarks/service/costs.json, by which docs/scale.md reckons.
 */
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { untilDelivered } from '../../../service/test/faults/verify.ts';
import { type Client, createClient } from '../../../service/test/http/client.ts';
import { startReceiver } from '../../../service/test/http/receiver.ts';
import { childrenOf, startPrivatePostgres } from '../../../service/test/private-postgres.ts';
import { startService } from '../../../service/test/start-service.ts';
import { openPostgres } from '../../../service/src/store/postgres.ts';
import { processorTimeUs } from './processor-time.ts';

interface Cost {
  serviceUs: number;
  databaseUs: number;
  /** What the tables and their indexes grow by. */
  storedBytes: number;
  /** What PostgreSQL writes to its log, and a standby or an archive takes. */
  loggedBytes: number;
}
type Decision = Awaited<ReturnType<Client['decideImage']>>;

const [many, some, atOnce] = [2_000, 600, 48];
const postgres = await startPrivatePostgres();
if (!postgres) throw new Error('There is no PostgreSQL on this machine.');
const service = await startService({ env: { DATABASE_URL: postgres.url, RATE_LIMITS: 'off' } });
const database = openPostgres(postgres.url, () => undefined);
const receiver = await startReceiver();

const look = async (): Promise<Cost> => {
  const [row] = await database.query<{ stored: number; logged: number }>(
    `SELECT (SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r'
        AND relnamespace = 'public'::regnamespace)::bigint AS stored,
      pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint AS logged`,
  );
  const sessions = childrenOf(postgres.pid()).map(processorTimeUs);
  return {
    serviceUs: processorTimeUs(service.process.pid ?? 0),
    databaseUs: sessions.reduce((sum, us) => sum + us, 0),
    storedBytes: row?.stored ?? 0,
    loggedBytes: row?.logged ?? 0,
  };
};
const combine = (a: Cost, b: Cost, of: (x: number, y: number) => number): Cost => ({
  serviceUs: of(a.serviceUs, b.serviceUs),
  databaseUs: of(a.databaseUs, b.databaseUs),
  storedBytes: of(a.storedBytes, b.storedBytes),
  loggedBytes: of(a.loggedBytes, b.loggedBytes),
});

/** Does the work for each item, so many at once, and hands back what one costs. */
async function measure<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<Cost> {
  const before = await look();
  const waiting = [...items];
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) await work(item);
    }),
  );
  await untilDelivered(postgres?.url ?? '');
  return combine(await look(), before, (now, then) => Math.round((now - then) / items.length));
}

async function decideAll(client: Client, count: number, name: string) {
  const decisions: Decision[] = [];
  const players = Array.from({ length: count }, (_, index) => `${name}-${index}`);
  const cost = await measure(players, async (player) =>
    decisions.push(await client.decideImage(player)),
  );
  return { decisions, cost };
}

const finish = (client: Client) => (decision: Decision) =>
  client.report(client.seen(decision), client.event(decision, 'complete', { watched_ms: 5_000 }));

/** What the last report of an ad costs: the impression, the completion and the reward. */
async function measureFinish(client: Client, count: number, name: string): Promise<Cost> {
  const { decisions } = await decideAll(client, count, name);
  await measure(decisions, (decision) => client.begin(decision));
  await sleep(5_100);
  return measure(decisions, finish(client));
}

const live = createClient(service, 'live');
const sandbox = createClient(service, 'sandbox');
// The compiler takes some thousand requests to be done with the code.
await measureFinish(live, some, 'warm');
const { decisions, cost: decision } = await decideAll(live, many, 'player');
const start = await measure(decisions, (each) => live.begin(each));
const quartiles = await measure(decisions, (each) =>
  live.report(
    ...(['first_quartile', 'midpoint', 'third_quartile'] as const).map((type) =>
      live.event(each, type),
    ),
  ),
);
await sleep(5_100);
const last = await measure(decisions, finish(live));
const untold = await measureFinish(sandbox, some, 'untold');
const hook = { url: receiver.url, events: ['decision.rewarded'] };
await sandbox.call('POST', '/v1/webhooks', sandbox.secret, hook);
const told = await measureFinish(sandbox, some, 'told');
const delivery = combine(told, untold, (x, y) => Math.max(0, x - y));

await database.close();
await service.stop();
await receiver.close();
await postgres.stop();
const costs = { decision, start, quartiles, finish: last, delivery };
console.table(costs);
const file = new URL('../../../docs/benchmarks/service/costs.json', import.meta.url);
const measured = {
  date: new Date().toISOString().slice(0, 10),
  processors: `${cpus().length} × ${cpus()[0]?.model.trim() ?? '?'}`,
  load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
};
writeFileSync(fileURLToPath(file), `${JSON.stringify({ measured, costs }, undefined, 2)}\n`);
