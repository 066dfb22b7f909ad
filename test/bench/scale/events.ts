import { randomUUID } from 'node:crypto';
import type { Decision, EventBatchResult } from '../../../protocol/wire.ts';
import { textArray, timeArray } from '../../../service/src/store/binary-arrays.ts';
import { openPostgres } from '../../../service/src/store/postgres.ts';
import { startCluster, type Cluster } from '../../../service/test/faults/cluster.ts';
import { load } from '../../../service/test/load.ts';
import { makeDatabase } from './bench-database.ts';
import type { Part } from './part.ts';

const perBatch = 100;
const atOnce = 16;
/** A request tells of ten ads, as that of a device does which was offline. */
const perDecision = 10;
const wantedPerSecond = 20_000;
/** Of a game's own counting; nothing has to be judged anew for them. */
const types = ['first_quartile', 'midpoint', 'third_quartile', 'skip', 'close'] as const;

/** Events in batches with 1, 2 and 4 processes, beside what PostgreSQL stores at most. */
export const events: Part = async ({ postgres, ms }) => {
  const limit = await measureInserts(await makeDatabase(postgres), ms);
  const rows: (string | number)[][] = [];
  let best = 0;
  for (const processes of [1, 2, 4]) {
    const databaseUrl = await makeDatabase(postgres);
    const cluster = await startCluster({ databaseUrl, processes });
    try {
      const shown = await decide(cluster, 1_000);
      await report(cluster, shown, ms);
      const found = await report(cluster, shown, ms);
      best = Math.max(best, found.perSecond);
      rows.push([processes, found.perSecond.toFixed(0), (found.perSecond / limit).toFixed(2)]);
    } finally {
      await cluster.stop();
    }
  }
  rows.push(['PostgreSQL alone', limit.toFixed(0), '1.00']);
  return {
    verdicts: [
      {
        budget: `events in batches: ${wantedPerSecond} rows/s, or 0.7 × what PostgreSQL inserts`,
        measured: `${best.toFixed(0)} rows/s, ${(best / limit).toFixed(2)} ×`,
        held: best >= wantedPerSecond || best >= 0.7 * limit,
      },
    ],
    head: ['processes', 'events/s', 'of PostgreSQL alone'],
    rows,
    note: `${perBatch} events in a request, ${atOnce} requests at a time, each event new and answered after its commit. PostgreSQL alone inserts rows of the same table, 1,000 at a time over four connections, without a look at anything.`,
    plot: {
      title: 'Events per second',
      axis: 'events/s',
      rows: rows.map(([label, value]) => ({
        label: typeof label === 'number' ? `${label} processes` : String(label),
        value: Number(value),
      })),
    },
  };
};

type Shown = Pick<Decision, 'id' | 'token'>;

async function decide({ urls, keys }: Cluster, count: number): Promise<Shown[]> {
  const ask = async (index: number): Promise<Shown> => {
    const answer = await fetch(`${urls[0]}/v1/decisions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${keys.live.publishable}`,
        'content-type': 'application/json',
        'user-agent': 'Mozilla/5.0 Chrome/140',
      },
      body: JSON.stringify({ placement: 'revive', user_ref: `player-${index}` }),
    });
    return (await answer.json()) as Shown;
  };
  return Promise.all(Array.from({ length: count }, (_, index) => ask(index)));
}

async function report({ urls, keys }: Cluster, shown: Shown[], ms: number) {
  let next = 0;
  let [accepted, refused] = [0, ''];
  const body = (): string => {
    const occurred_at = new Date().toISOString();
    const batch = Array.from({ length: perBatch }, (_, index) => {
      const { id, token } = shown[Math.floor((next += 1) / perDecision) % shown.length] ?? {
        id: '',
      };
      const type = types[index % types.length];
      return { id: randomUUID(), type, decision_id: id, token, occurred_at };
    });
    return JSON.stringify({ sent_at: occurred_at, events: batch });
  };
  const onAnswer = (text: string): void => {
    for (const { status, code } of (JSON.parse(text) as EventBatchResult).results) {
      if (status === 'accepted') accepted += 1;
      else refused = code ?? status;
    }
  };
  const startedMs = performance.now();
  await Promise.all(
    urls.map((url) =>
      load(
        {
          url,
          path: '/v1/events',
          key: keys.live.publishable,
          body,
          connections: atOnce / urls.length,
          onAnswer,
        },
        ms,
      ),
    ),
  );
  if (refused !== '') throw new Error(`Events were refused: ${refused}.`);
  return { perSecond: (accepted * 1_000) / (performance.now() - startedMs) };
}

/** Rows per second that PostgreSQL stores in a table like that of the events. */
async function measureInserts(databaseUrl: string, ms: number): Promise<number> {
  const database = openPostgres(databaseUrl, (error) => console.error(error));
  await database.query(`CREATE TABLE plain (account_id text NOT NULL, decision_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL, type text NOT NULL, occurred_at timestamptz NOT NULL, received_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, decision_id, id))`);
  const atATime = 1_000;
  const all = Array.from({ length: atATime });
  let count = 0;
  const startedMs = performance.now();
  const work = async (): Promise<void> => {
    while (performance.now() - startedMs < ms) {
      const times = timeArray(all.map(() => Date.now()));
      await database.execute(
        `INSERT INTO plain SELECT 'acc_1', * FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[])`,
        [
          textArray(all.map(() => 'dec_01h455vb4pex5vsknk084sn02q')),
          textArray(all.map(() => randomUUID())),
          textArray(all.map(() => 'midpoint')),
          times,
          times,
        ],
      );
      count += atATime;
    }
  };
  await Promise.all([1, 2, 3, 4].map(work));
  const perSecond = (count * 1_000) / (performance.now() - startedMs);
  await database.close();
  return perSecond;
}
