import { setTimeout as sleep } from 'node:timers/promises';
import type { PrivatePostgres } from '../../../service/test/private-postgres.ts';
import { openPostgres } from '../../../service/src/store/postgres.ts';
import type { Child } from './child.ts';
import { causeId } from './contestants/cause.mjs';
import type { Contestant, Setting } from './contestants.ts';
import { type RunningContestant, openContestant, type Worker } from './open-contestant.ts';
import { tally, type Tally } from './tally.ts';
import { readUsage, subtract, type Usage } from './usage.ts';

/** Resource usage of a run. */
export interface Bench {
  postgres: PrivatePostgres;
  receiver: Child;
  url: string;
  warmUp: number;
}

/** A run without faults. Processor times are the sums for all deliveries, in microseconds. */
export interface DeliveryRun {
  count: number;
  /** Time from the start signal until the last delivery is recorded as delivered. */
  ms: number;
  usage: Usage;
  enqueue: { ms: number; usage: Usage };
  tally: Tally;
  failed: number;
}

/** A run in which the worker is killed once. */
export interface CrashRun {
  count: number;
  /** Number of causes that had arrived, and of requests that were in flight, when the worker was killed. */
  arrived: number;
  open: number;
  /**
   * Times from when the worker was killed. `restartMs` is until the new worker may start, and `recoveryMs` until the
   * last delivery is recorded as delivered.
   */
  restartMs: number;
  recoveryMs: number;
  tally: Tally;
  failed: number;
}

/** Timeout, in milliseconds. Deliveries that take longer count as lost. */
const timeoutMs = 180_000;

/** Delivers a backlog of `count` webhooks. */
export const deliver = (
  bench: Bench,
  contestant: Contestant,
  setting: Setting,
  count: number,
): Promise<DeliveryRun> =>
  withWarmContestant(bench, contestant, setting, async (opened, worker) => {
    const readCurrentUsage = () => readUsage(listProcesses(bench, opened, worker));
    await bench.receiver.call('begin', opened.secret, 'main');
    const [before, startedMs] = [readCurrentUsage(), performance.now()];
    await opened.producer.call('enqueue', 'main', count);
    const enqueue = {
      ms: performance.now() - startedMs,
      usage: subtract(readCurrentUsage(), before),
    };
    // Flushes earlier writes, so that they do not affect the measured run.
    await checkpoint(bench.postgres);
    const [beforeStart, allowedMs] = [readCurrentUsage(), performance.now()];
    await worker.start();
    await withTimeout(bench.receiver.call('arrived', count));
    const failed = await waitUntilDone(opened, 20);
    const ms = performance.now() - allowedMs;
    const usage = subtract(readCurrentUsage(), beforeStart);
    return { count, ms, usage, enqueue, failed, tally: await readTally(bench, count) };
  });

/** Like {@link deliver}, but kills the worker when 40% of the webhooks have arrived, and restarts it immediately. */
export const crash = (
  bench: Bench,
  contestant: Contestant,
  setting: Setting,
  count: number,
): Promise<CrashRun> =>
  withWarmContestant(bench, contestant, setting, async (opened, worker) => {
    await bench.receiver.call('begin', opened.secret, 'main');
    await opened.producer.call('enqueue', 'main', count);
    await worker.start();
    const { open } = await withTimeout(
      bench.receiver.call<{ open: number }>('arrived', Math.round(0.4 * count)),
    );
    await worker.kill();
    const killedMs = performance.now();
    const { counts } = await bench.receiver.call<{ counts: object }>('result');
    const arrived = Object.keys(counts).length;
    const newWorker = await opened.startWorker(true);
    await newWorker.start();
    const restartMs = performance.now() - killedMs;
    const failed = await waitUntilDone(opened, 100);
    const recoveryMs = performance.now() - killedMs;
    const end = await readTally(bench, count);
    return { count, arrived, open, restartMs, recoveryMs, failed, tally: end };
  });

/** Runs `work` on a new contestant after some warm-up deliveries. */
async function withWarmContestant<T>(
  bench: Bench,
  contestant: Contestant,
  setting: Setting,
  work: (opened: RunningContestant, worker: Worker) => Promise<T>,
): Promise<T> {
  const opened = await openContestant(contestant, setting, bench);
  try {
    const worker = await opened.startWorker(false);
    await bench.receiver.call('begin', opened.secret, 'warm');
    await opened.producer.call('enqueue', 'warm', bench.warmUp);
    await worker.start();
    await withTimeout(bench.receiver.call('arrived', bench.warmUp));
    await waitUntilDone(opened, 20);
    await worker.pause();
    return await work(opened, worker);
  } finally {
    await opened.close();
  }
}

const listProcesses = (
  { postgres, receiver }: Bench,
  opened: RunningContestant,
  worker: Worker,
) => ({
  worker: worker.pid,
  producer: opened.producer.pid,
  receiver: receiver.pid,
  postgres: postgres.pid(),
  redis: opened.redisPid,
});

/** Waits until nothing is pending, but not longer than the timeout. Resolves with the number of permanent failures. */
async function waitUntilDone({ producer }: RunningContestant, everyMs: number): Promise<number> {
  const startedMs = performance.now();
  for (;;) {
    const { pending, failed } = await producer.call<{ pending: number; failed: number }>('count');
    if (pending === 0 || performance.now() - startedMs > timeoutMs) return failed;
    await sleep(everyMs);
  }
}

async function withTimeout<T>(work: Promise<T>): Promise<T> {
  const limit = new AbortController();
  const timeout = sleep(timeoutMs, undefined, { signal: limit.signal }).then(() => {
    throw new Error(`Not everything was delivered within ${timeoutMs / 1_000} s.`);
  });
  timeout.catch(() => undefined);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    limit.abort();
  }
}

async function readTally({ receiver }: Bench, count: number): Promise<Tally> {
  const { counts, rejected } = await receiver.call<{
    counts: Record<string, number>;
    rejected: number;
  }>('result');
  if (rejected > 0) throw new Error(`The receiver rejected ${rejected} signatures.`);
  const causes = Array.from({ length: count }, (_, index) => causeId('main', index));
  return tally(causes, counts);
}

async function checkpoint({ url }: PrivatePostgres): Promise<void> {
  const database = openPostgres(url, (error) => console.error(error));
  await database.query('CHECKPOINT');
  await database.close();
}
