import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openRateLimits } from '../../src/http/limits/open-rate-limits.ts';
import { startKillSwitchExpiry } from '../../src/resource/expire-kill-switches.ts';
import { limitAll } from './fixtures.ts';
import { createError, createFlakyDatabase } from './flaky-database.ts';

// What is tried every second is logged when it begins to fail, not every second.

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const clock = { nowMs: () => 0, monotonicMs: () => 0 };
const limits = limitAll({ perS: 1, burst: 1 });

type Started = Promise<{ stop(): Promise<void> }> | { stop(): Promise<void> };
type Flaky = ReturnType<typeof createFlakyDatabase>['database'];

test.each<[string, (database: Flaky, log: pino.Logger) => Started]>([
  [
    'could not share rate limits with other processes',
    (database, log) => {
      const query = async (text: string) => {
        if (text.includes('FROM secrets')) return [{ sealed: 'secret' }];
        return database.query(text);
      };
      return openRateLimits(limits, {
        database: { ...database, query: query as never },
        box: { open: (sealed: string) => sealed } as never,
        clock,
        log,
        processId: 'process',
      });
    },
  ],
  [
    'could not turn an expired kill switch off',
    (database, log) =>
      startKillSwitchExpiry({
        database,
        resources: { find: async () => undefined } as never,
        resourceManager: {} as never,
        listExpired: () => [{ scope: { accountId: 'acc_1', environment: 'live' }, id: 'kil_1' }],
        clock,
        log,
        onChange: async () => undefined,
      }),
  ],
])('“%s” is logged once per failure', async (message, start) => {
  const messages: string[] = [];
  const log = pino(
    {},
    { write: (line) => void messages.push((JSON.parse(line) as { msg: string }).msg) },
  );
  const { state, database } = createFlakyDatabase();
  const failure = createError('57P01');
  state.error = failure;
  const service = await start(database, log);
  const counts: number[] = [];
  for (const error of [failure, undefined, failure]) {
    state.error = error;
    await vi.advanceTimersByTimeAsync(5_000);
    counts.push(messages.length);
  }
  await service.stop();
  expect(counts).toEqual([1, 1, 2]);
  expect(new Set(messages)).toEqual(new Set([message]));
  expect(vi.getTimerCount()).toBe(0);
});
