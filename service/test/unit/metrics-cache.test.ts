import { Registry } from 'prom-client';
import { afterEach, expect, test, vi } from 'vitest';
import { addStateMetrics } from '../../src/http/monitoring/metrics.ts';
import { monotonicMs } from '../../src/platform/time.ts';
import { idleState } from '../idle-state.ts';
import { createFlakyDatabase } from './flaky-database.ts';

afterEach(() => void vi.useRealTimers());

test.each([
  ['pending deliveries', 'FROM delivery_queue ORDER BY', 15_000],
  ['pending tracker requests', 'FROM tracker_requests WHERE', 15_000],
  ['mistakes in integrations', 'FROM keys', 300_000],
])(
  '%s are counted once per period, however often the metrics are read',
  async (_, part, periodMs) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { state, database } = createFlakyDatabase();
    let counted = 0;
    const query = async (text: string) => {
      if (text.includes(part)) counted += 1;
      return database.query<never>(text);
    };
    const registry = new Registry();
    addStateMetrics(registry, {
      ...idleState,
      database: { ...database, query },
      clock: { nowMs: () => 0, monotonicMs },
    });
    const counts: number[] = [];
    const readAfter = async (ms: number) => {
      vi.advanceTimersByTime(ms);
      counted = 0;
      await registry.metrics();
      counts.push(counted);
    };
    for (const ms of [0, 0, periodMs - 1, 1]) await readAfter(ms);
    // A count that fails is tried again.
    state.error = new Error('no');
    for (const ms of [periodMs, 0]) await readAfter(ms);
    state.error = undefined;
    for (const ms of [0, 0]) await readAfter(ms);
    expect(counts.map((count) => count > 0)).toEqual([
      true,
      false,
      false,
      true,
      true,
      true,
      true,
      false,
    ]);
  },
);
