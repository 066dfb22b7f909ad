import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { KillSwitch, Webhook } from '../../../protocol/wire.ts';
import { openPostgres } from '../../../service/src/store/postgres.ts';
import { startCluster, type Cluster } from '../../../service/test/faults/cluster.ts';
import { median, percentile } from '../outbox/statistics.ts';
import { makeDatabase } from './bench-database.ts';
import type { Options, Part } from './part.ts';

const endpoints = 100;
/** What an endpoint that has been dead for hours has waiting. */
const backlog = 10_000;
const pauseMs = 250;

/** Webhooks of a hundred endpoints, with and without one that takes requests and never answers. */
export const dispatch: Part = async (options) => {
  const healthy = await startSide(options, false);
  const spoilt = await startSide(options, true);
  const [without, withDead]: [number[][], number[][]] = [[], []];
  try {
    await healthy.announce();
    await spoilt.announce();
    const startedMs = performance.now();
    // In turns, so that what else the machine does falls on both; longer than the dead one is tried at all.
    while (performance.now() - startedMs < 12 * options.ms) {
      without.push(await announceAlone(healthy));
      withDead.push(await announceAlone(spoilt));
    }
  } finally {
    await healthy.stop();
    await spoilt.stop();
  }
  const row = (name: string, rounds: number[][]) => {
    const all = rounds.flat();
    return [
      name,
      rounds.length,
      percentile(all, 0.5),
      percentile(all, 0.95),
      percentile(all, 0.99),
    ];
  };
  const middle = (rounds: number[][]) => median(rounds.map((round) => median(round) ?? NaN)) ?? NaN;
  const ratio = middle(withDead) / middle(without);
  const rows = [row('all answer', without), row('one never answers', withDead)].map(
    ([name, rounds, ...latencies]) => [
      name ?? '',
      rounds ?? 0,
      ...latencies.map((latency) => Number(latency).toFixed(0)),
    ],
  );
  return {
    verdicts: [
      {
        budget: 'one dead endpoint in a hundred: the others’ webhooks take at most 1.1 ×',
        measured: `${ratio.toFixed(2)} ×`,
        held: ratio <= 1.1,
      },
    ],
    head: ['of 100 endpoints', 'events', 'p50, ms', 'p95, ms', 'p99, ms'],
    rows,
    note: `From the request that causes an event to its arrival at each of the 99 endpoints that answer. The dead one takes requests and never answers, and has ${backlog.toLocaleString('en')} deliveries waiting. Two services, asked in turns; the ratio is that of the middle events. PostgreSQL, services and receivers share the machine.`,
    plot: {
      title: 'Webhooks with one dead endpoint in a hundred',
      axis: 'p50, ms',
      rows: rows.map(([name, , p50]) => ({ label: String(name), value: Number(p50) })),
    },
  };
};

/** After a pause, in which the service before writes down what it delivered, and on the same two cores. */
async function announceAlone({ announce }: Pick<Side, 'announce'>): Promise<number[]> {
  await new Promise((resolve) => setTimeout(resolve, pauseMs));
  return announce();
}

type Side = Awaited<ReturnType<typeof startSide>>;

/** A service with a hundred endpoints. */
async function startSide({ postgres }: Options, isOneDead: boolean) {
  const databaseUrl = await makeDatabase(postgres);
  const cluster = await startCluster({ databaseUrl, processes: 1 });
  const receiver = await startReceiver(isOneDead ? '/0' : undefined);
  const call = createCall(cluster);
  const webhooks: Webhook[] = [];
  for (let index = 0; index < endpoints; index += 1) {
    const url = `${receiver.url}/${index}`;
    webhooks.push(
      await call<Webhook>('POST', '/v1/webhooks', { url, events: ['kill_switch.changed'] }),
    );
  }
  let switchId: string | undefined;
  const announce = async (): Promise<number[]> => {
    const arrivals = receiver.expect(endpoints - 1);
    const startedMs = performance.now();
    if (switchId === undefined) {
      const body = { scope: 'placement', target_id: 'lobby', state: 'on', reason: 'bench:scale' };
      switchId = (await call<KillSwitch>('POST', '/v1/kill-switches', body)).id;
    } else {
      await call('DELETE', `/v1/kill-switches/${switchId}`);
      switchId = undefined;
    }
    return (await arrivals).map((atMs) => atMs - startedMs);
  };
  if (isOneDead) {
    await announce();
    await addBacklog(databaseUrl, webhooks[0]?.id ?? '');
  }
  return {
    announce,
    async stop() {
      receiver.stop();
      await cluster.stop();
    },
  };
}

/** Endpoints on one port, told apart by their path; `dead` takes requests and never answers. */
async function startReceiver(dead: string | undefined) {
  let arrivals: number[] = [];
  let [wanted, done]: [number, (arrivals: number[]) => void] = [0, () => undefined];
  const server = createServer((request, response) => {
    request.resume();
    if (request.url === dead) return;
    // The first endpoint is left out on the other side, too.
    if (request.url !== '/0') arrivals.push(performance.now());
    response.end();
    if (arrivals.length === wanted) done(arrivals);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Resolves with the times of so many arrivals. */
    expect(count: number): Promise<number[]> {
      [arrivals, wanted] = [[], count];
      return new Promise((resolve) => (done = resolve));
    },
    stop(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}

function createCall({ urls, keys }: Cluster) {
  return async <T>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await fetch(`${urls[0]}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${keys.sandbox.secret}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (answer.status === 204 ? undefined : await answer.json()) as T;
  };
}

async function addBacklog(databaseUrl: string, webhookId: string): Promise<void> {
  const database = openPostgres(databaseUrl, (error) => console.error(error));
  await database.query(
    `INSERT INTO deliveries (account_id, id, environment, event_id, webhook_id, state, attempt, next_at, created_at)
      SELECT account_id, 'del_bench_' || n, environment, event_id, webhook_id, 'pending', 0, now(), now()
      FROM (SELECT * FROM deliveries WHERE webhook_id = $1 LIMIT 1) d CROSS JOIN generate_series(1, $2::integer) AS n`,
    [webhookId, backlog],
  );
  await database.query('ANALYZE');
  await database.close();
}
