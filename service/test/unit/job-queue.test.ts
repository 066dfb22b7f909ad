import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createJobQueue, type JobQueue } from '../../src/demand/intake/job-queue.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** Creates a queue whose jobs run until the test ends them. */
function createHeldQueue(limits: Parameters<typeof createJobQueue>[0] = {}) {
  const queue: JobQueue = createJobQueue(limits);
  const startedJobs: string[] = [];
  const endJobs = new Map<string, (succeeded: boolean) => void>();
  const waitForTurn = () => new Promise(setImmediate);
  return {
    queue,
    started: startedJobs,
    push: (accountId: string, sourceId: string, key: string): boolean =>
      queue.push({
        accountId,
        sourceId,
        key,
        run(signal) {
          startedJobs.push(key);
          return new Promise((resolve) => {
            endJobs.set(key, resolve);
            signal.addEventListener('abort', () => resolve(false));
          });
        },
      }),
    async end(key: string, succeeded = true): Promise<void> {
      endJobs.get(key)?.(succeeded);
      await waitForTurn();
    },
  };
}

test('jobs run in order within a source and in parallel across sources', async () => {
  const { push, started, end } = createHeldQueue();
  push('acc_1', 'slow', 's1');
  push('acc_1', 'slow', 's2');
  push('acc_1', 'quick', 'q1');
  push('acc_1', 'quick', 'q2');
  expect(started).toEqual(['s1', 'q1']);
  await end('q1');
  expect(started).toEqual(['s1', 'q1', 'q2']);
  await end('s1');
  expect(started.at(-1)).toBe('s2');
});

test('an account whose sources hang does not delay other accounts', async () => {
  const { push, started, end } = createHeldQueue({ running: 3, runningPerAccount: 2 });
  for (let n = 0; n < 10; n += 1) push('acc_1', `src_${n}`, `one ${n}`);
  push('acc_2', 'src_a', 'two a');
  expect(started).toEqual(['one 0', 'one 1', 'two a']);
  push('acc_3', 'src_b', 'three b');
  await end('two a');
  expect(started.at(-1)).toBe('three b');
});

test('a job is not queued again while it is already queued or running', async () => {
  const { push, started, end } = createHeldQueue();
  expect([push('acc_1', 'src_1', 'a'), push('acc_1', 'src_1', 'a')]).toEqual([true, false]);
  expect([push('acc_1', 'src_1', 'b'), push('acc_1', 'src_1', 'b')]).toEqual([true, false]);
  await end('a');
  expect(push('acc_1', 'src_1', 'a')).toBe(true);
  expect(started).toEqual(['a', 'b']);
});

test('each source’s queue is bounded', () => {
  const { push } = createHeldQueue({ waitingPerSource: 3 });
  const pushResults = ['a', 'b', 'c', 'd', 'e', 'f'].map((key) => push('acc_1', 'src_1', key));
  // The first job does not count as queued, because it is running.
  expect(pushResults).toEqual([true, true, true, true, false, false]);
  expect(push('acc_1', 'src_2', 'other')).toBe(true);
});

test('a failing source backs off until a job succeeds', async () => {
  const { push, started, end } = createHeldQueue({ pauseMs: 1_000, maxPauseMs: 5_000 });
  /** Ends the running job and returns how long the next job waits. */
  const measurePause = async (key: string, next: string, succeeded: boolean): Promise<number> => {
    push('acc_1', 'src_1', next);
    await end(key, succeeded);
    for (let ms = 0; ms <= 10_000; ms += 500) {
      if (started.at(-1) === next) return ms;
      vi.advanceTimersByTime(500);
    }
    throw new Error(`${next} never started.`);
  };
  push('acc_1', 'src_1', 'a');
  expect(await measurePause('a', 'b', false)).toBe(1_000);
  expect(await measurePause('b', 'c', false)).toBe(2_000);
  expect(await measurePause('c', 'd', false)).toBe(4_000);
  expect(await measurePause('d', 'e', false)).toBe(5_000);
  expect(await measurePause('e', 'f', true)).toBe(0);
  expect(await measurePause('f', 'g', false)).toBe(1_000);
});

test('an empty queue does not reset a source’s back-off', async () => {
  const { push, started, end } = createHeldQueue({ pauseMs: 1_000 });
  push('acc_1', 'src_1', 'a');
  await end('a', false);
  vi.advanceTimersByTime(1_000);
  push('acc_1', 'src_1', 'b');
  await end('b', false);
  push('acc_1', 'src_1', 'c');
  vi.advanceTimersByTime(1_999);
  expect(started).toEqual(['a', 'b']);
  vi.advanceTimersByTime(1);
  expect(started).toEqual(['a', 'b', 'c']);
});

test('`stop` aborts running jobs, drops queued jobs and rejects new ones', async () => {
  const { queue, push, started } = createHeldQueue();
  push('acc_1', 'src_1', 'a');
  push('acc_1', 'src_1', 'b');
  await queue.stop();
  expect(started).toEqual(['a']);
  expect(push('acc_1', 'src_2', 'c')).toBe(false);
});
