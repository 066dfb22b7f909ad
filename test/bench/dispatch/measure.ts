import { setTimeout as sleep } from 'node:timers/promises';
import type { PrivatePostgres } from '../../../service/test/private-postgres.ts';
import { openPostgres } from '../../../service/src/store/postgres.ts';
import type { Child } from './child.ts';
import { causeId } from './contenders/cause.mjs';
import type { Contender, Setting } from './contenders.ts';
import { type RunningContender, openContender, type Worker } from './open-contender.ts';
import { tally, type Tally } from './tally.ts';
import { readUsage, subtract, type Usage } from './usage.ts';

/** What all runs share: the PostgreSQL server, the receiver and its URL, and the number of warm-up deliveries. */
export interface Bench {
  postgres: PrivatePostgres;
  receiver: Child;
  url: string;
  warmUp: number;
}

/** A run without fault injection. CPU times are totals over all deliveries, in microseconds. */
export interface DeliveryRun {
  count: number;
  /** Time from when the worker starts until the last delivery is recorded as delivered. */
  ms: number;
  usage: Usage;
  enqueue: { ms: number; usage: Usage };
  tally: Tally;
  failed: number;
}

/** A run in which the worker is killed once. */
export interface CrashRun {
  count: number;
  /** How many causes had arrived, and how many requests were in flight, when the worker was killed. */
  arrived: number;
  open: number;
  /**
   * Both times start when the worker is killed. `restartMs` ends when the new worker has started, and `recoveryMs` when
   * the last delivery is recorded as delivered.
   */
  restartMs: number;
  recoveryMs: number;
  tally: Tally;
  failed: number;
}

/** Timeout, in milliseconds. Deliveries that have not arrived by then count as lost. */
const timeoutMs = 180_000;

/** Delivers a backlog of `count` webhooks. */
export const deliver = (
  bench: Bench,
  contender: Contender,
  setting: Setting,
  count: number,
): Promise<DeliveryRun> =>
  withWarmContender(bench, contender, setting, async (runningContender, worker) => {
    const readCurrentUsage = () => readUsage(listProcesses(bench, runningContender, worker));
    await bench.receiver.call('begin', runningContender.secret, 'main');
    const [usageBefore, startedAtMs] = [readCurrentUsage(), performance.now()];
    await runningContender.producer.call('enqueue', 'main', count);
    const enqueue = {
      ms: performance.now() - startedAtMs,
      usage: subtract(readCurrentUsage(), usageBefore),
    };
    // Flushes earlier writes, so that they do not affect the measured run.
    await checkpoint(bench.postgres);
    const [usageBeforeStart, workerStartedAtMs] = [readCurrentUsage(), performance.now()];
    await worker.start();
    await withTimeout(bench.receiver.call('waitForArrivals', count));
    const failed = await waitUntilDone(runningContender, 20);
    const ms = performance.now() - workerStartedAtMs;
    const usage = subtract(readCurrentUsage(), usageBeforeStart);
    return { count, ms, usage, enqueue, failed, tally: await readTally(bench, count) };
  });

/** Like {@link deliver}, but kills the worker when 40% of the webhooks have arrived, and restarts it immediately. */
export const crash = (
  bench: Bench,
  contender: Contender,
  setting: Setting,
  count: number,
): Promise<CrashRun> =>
  withWarmContender(bench, contender, setting, async (runningContender, worker) => {
    await bench.receiver.call('begin', runningContender.secret, 'main');
    await runningContender.producer.call('enqueue', 'main', count);
    await worker.start();
    const { open } = await withTimeout(
      bench.receiver.call<{ open: number }>('waitForArrivals', Math.round(0.4 * count)),
    );
    await worker.kill();
    const killedAtMs = performance.now();
    const { counts } = await bench.receiver.call<{ counts: object }>('result');
    const arrived = Object.keys(counts).length;
    const newWorker = await runningContender.startWorker(true);
    await newWorker.start();
    const restartMs = performance.now() - killedAtMs;
    const failed = await waitUntilDone(runningContender, 100);
    const recoveryMs = performance.now() - killedAtMs;
    const tally = await readTally(bench, count);
    return { count, arrived, open, restartMs, recoveryMs, failed, tally };
  });

/** Sets up the contender with fresh databases, and runs `work` after some warm-up deliveries. */
async function withWarmContender<T>(
  bench: Bench,
  contender: Contender,
  setting: Setting,
  work: (runningContender: RunningContender, worker: Worker) => Promise<T>,
): Promise<T> {
  const runningContender = await openContender(contender, setting, bench);
  try {
    const worker = await runningContender.startWorker(false);
    await bench.receiver.call('begin', runningContender.secret, 'warm');
    await runningContender.producer.call('enqueue', 'warm', bench.warmUp);
    await worker.start();
    await withTimeout(bench.receiver.call('waitForArrivals', bench.warmUp));
    await waitUntilDone(runningContender, 20);
    await worker.pause();
    return await work(runningContender, worker);
  } finally {
    await runningContender.close();
  }
}

const listProcesses = (
  { postgres, receiver }: Bench,
  runningContender: RunningContender,
  worker: Worker,
) => ({
  worker: worker.pid,
  producer: runningContender.producer.pid,
  receiver: receiver.pid,
  postgres: postgres.pid(),
  redis: runningContender.redisPid,
});

/** Waits until nothing is pending, or until the timeout. Resolves to the number of permanent failures. */
async function waitUntilDone(
  { producer }: RunningContender,
  pollIntervalMs: number,
): Promise<number> {
  const startedAtMs = performance.now();
  for (;;) {
    const { pending, failed } = await producer.call<{ pending: number; failed: number }>('count');
    if (pending === 0 || performance.now() - startedAtMs > timeoutMs) return failed;
    await sleep(pollIntervalMs);
  }
}

async function withTimeout<T>(work: Promise<T>): Promise<T> {
  const timeoutController = new AbortController();
  const timeout = sleep(timeoutMs, undefined, { signal: timeoutController.signal }).then(() => {
    throw new Error(`Some webhooks were not delivered within ${timeoutMs / 1_000} s.`);
  });
  timeout.catch(() => undefined);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    timeoutController.abort();
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
