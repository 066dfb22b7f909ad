import { startCluster, type Cluster } from '../../../service/test/faults/cluster.ts';
import { load } from '../../../service/test/load.ts';
import { median, percentile } from '../outbox/statistics.ts';
import { type Contestant, startEcho } from '../service/contestants.ts';
import { processorTimeUs } from '../service/processor-time.ts';
import { makeDatabase } from './bench-database.ts';
import type { Found, Options, Part } from './part.ts';

const atOnce = 64;
const switches = 5;
let players = 0;

/** One window of decisions over all processes of a cluster. */
export async function askDecisions({ urls, keys, service }: Cluster, ms: number) {
  const pids = urls.map((_, index) => service(index).process.pid ?? 0);
  const spent = () => pids.reduce((sum, pid) => sum + processorTimeUs(pid), 0);
  const before = spent();
  const windows = await Promise.all(
    urls.map((url) =>
      load(
        {
          url,
          path: '/v1/decisions',
          key: keys.live.publishable,
          body: () => JSON.stringify({ placement: 'revive', user_ref: `player-${(players += 1)}` }),
          connections: atOnce / urls.length,
        },
        ms,
      ),
    ),
  );
  const latencies = windows.flatMap((window) => window.latencies);
  return {
    perSecond: windows.reduce((sum, { perSecond }) => sum + perSecond, 0),
    p50Ms: percentile(latencies, 0.5) ?? 0,
    p99Ms: percentile(latencies, 0.99) ?? 0,
    cpuUs: (spent() - before) / latencies.length,
  };
}

/** Decisions with 1, 2 and 4 processes, their cost beside an echo, and how fast a kill switch acts. */
export const decisions: Part = async (options) => {
  const echo = await startEcho();
  try {
    return await measure(echo, options);
  } finally {
    await echo.stop();
  }
};

async function measure(echo: Contestant, { postgres, ms }: Options): Promise<Found> {
  await echo.measure(ms);
  const rows: (string | number)[][] = [];
  const ratios: number[] = [];
  let killMs: number[] = [];
  for (const processes of [1, 2, 4]) {
    const databaseUrl = await makeDatabase(postgres);
    const cluster = await startCluster({ databaseUrl, processes });
    try {
      await askDecisions(cluster, 2 * ms);
      const base = await echo.measure(ms);
      const found = await askDecisions(cluster, ms);
      ratios.push(found.cpuUs / base.cpuUs);
      rows.push([
        processes,
        found.perSecond.toFixed(0),
        found.p50Ms.toFixed(1),
        found.p99Ms.toFixed(1),
        found.cpuUs.toFixed(0),
        (found.cpuUs / base.cpuUs).toFixed(2),
      ]);
      if (processes === 2) killMs = await timeKillSwitches(cluster);
    } finally {
      await cluster.stop();
    }
  }
  const [ratio = NaN] = ratios;
  const slowest = Math.max(...killMs);
  return {
    verdicts: [
      {
        budget: 'a decision on PostgreSQL: at most 2 × the processor time of the echo',
        measured: `${ratio.toFixed(2)} ×`,
        held: ratio <= 2,
      },
      {
        budget: 'a kill switch acts in the other process within 1 s',
        measured: `${slowest.toFixed(0)} ms at most, ${median(killMs)?.toFixed(0)} ms in the middle, of ${killMs.length}`,
        held: slowest <= 1_000,
      },
    ],
    head: ['processes', 'decisions/s', 'p50, ms', 'p99, ms', 'µs of processor', 'in echoes'],
    rows,
    note: `${atOnce} requests at a time, spread over the processes; load, service and PostgreSQL share the machine.`,
    plot: {
      title: 'Decisions per second',
      axis: 'decisions/s',
      rows: rows.map(([processes, value]) => ({
        label: `${processes} processes`,
        value: Number(value),
      })),
    },
  };
}

/** From the answer of the one process to the first decision of the other one that obeys, again and again. */
async function timeKillSwitches({ urls, keys }: Cluster): Promise<number[]> {
  const [here = '', there = ''] = urls;
  const call = async (url: string, key: string, body?: object, method = 'POST') => {
    const answer = await fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
    return (answer.status === 204 ? {} : await answer.json()) as { id: string; reason?: string };
  };
  const { publishable, secret } = keys.live;
  const untilKilled = async (killed: boolean): Promise<number> => {
    const startedMs = performance.now();
    for (;;) {
      const { reason } = await call(`${there}/v1/decisions`, publishable, {
        placement: 'revive',
        user_ref: 'kill-switch',
      });
      if ((reason === 'killed') === killed) return performance.now() - startedMs;
    }
  };
  const times: number[] = [];
  for (let round = 0; round < switches; round += 1) {
    const { id } = await call(`${here}/v1/kill-switches`, secret, {
      scope: 'placement',
      target_id: 'revive',
      state: 'on',
      reason: 'bench:scale',
    });
    times.push(await untilKilled(true));
    await call(`${here}/v1/kill-switches/${id}`, secret, undefined, 'DELETE');
    await untilKilled(false);
  }
  return times;
}
