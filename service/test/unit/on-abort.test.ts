import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { linkSignal } from '../../src/platform/bounded-request.ts';
import { onAbort } from '../../src/platform/on-abort.ts';
import { createRewardChanges } from '../../src/reward/reward-changes.ts';

const warnings: Error[] = [];
const onWarning = (warning: Error): void => void warnings.push(warning);
beforeEach(() => void process.on('warning', onWarning));
afterEach(() => void process.off('warning', onWarning));
/** Node emits warnings asynchronously. */
const flushWarnings = () => new Promise((resolve) => setImmediate(resolve));

const changes = createRewardChanges({
  database: { query: async () => [] },
  log: pino({ level: 'silent' }),
});
const awaited = {
  scope: { accountId: 'acc_1', environment: 'live' },
  decisionId: 'dec_1',
  state: 'pending',
} as const;

test.each<[string, (stopping: AbortSignal) => Promise<unknown>]>([
  ['wait for a reward', (stopping) => changes.next(awaited, 60_000, stopping)],
  [
    'have linked signals',
    (stopping) => {
      const { signal } = linkSignal(stopping);
      return new Promise<void>((resolve) => onAbort(signal, resolve));
    },
  ],
  ['subscribe', (stopping) => new Promise<void>((resolve) => onAbort(stopping, resolve))],
])('30 requests that %s until the process stops cause no warning', async (_what, wait) => {
  const stopping = new AbortController();
  const waiting = Array.from({ length: 30 }, () => wait(stopping.signal));
  await flushWarnings();
  expect(warnings).toEqual([]);
  stopping.abort();
  await Promise.all(waiting);
  // A request that arrives late doesn't wait.
  await wait(stopping.signal);
  expect(changes.waiting()).toBe(0);
});

test('an ended subscription is not called, and the same function may be subscribed twice', () => {
  const stopping = new AbortController();
  let calls = 0;
  const callback = (): void => void (calls += 1);
  const unsubscribe = onAbort(stopping.signal, callback);
  onAbort(stopping.signal, callback);
  unsubscribe();
  stopping.abort();
  expect(calls).toBe(1);
});
