import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createConcurrencyWindow,
  initialConcurrency,
  maxConcurrency,
} from '../../src/platform/concurrency-window.ts';

/** Keeps the window full for `ms`. `latencyMs` returns the latency at a given number of requests in flight. */
function simulateLoad(
  ms: number,
  latencyMs: (inFlight: number, nowMs: number) => number,
  isOverloaded: (inFlight: number) => boolean = () => false,
) {
  const window = createConcurrencyWindow();
  const running: { startedAtMs: number; endedAtMs: number; overloaded: boolean }[] = [];
  let [nowMs, completedRequests] = [0, 0];
  while (nowMs < ms) {
    while (running.length < window.size) {
      const inFlight = running.length + 1;
      const endedAtMs = nowMs + latencyMs(inFlight, nowMs);
      running.push({ startedAtMs: nowMs, endedAtMs, overloaded: isOverloaded(inFlight) });
    }
    running.sort((a, b) => a.endedAtMs - b.endedAtMs);
    const [sample] = running;
    if (!sample) throw new Error('Nothing is in flight.');
    nowMs = sample.endedAtMs;
    window.record(sample, true);
    running.shift();
    completedRequests += 1;
  }
  return { size: window.size, perSecond: (completedRequests * 1_000) / nowMs };
}

describe('a concurrency window', () => {
  test('starts small', () => {
    expect(createConcurrencyWindow().size).toBe(initialConcurrency);
  });

  test('grows to 1,000 requests per second within two seconds if responses take 50 ms', () => {
    expect(simulateLoad(2_000, () => 50).perSecond).toBeGreaterThan(1_000);
  });

  test('never exceeds its maximum', () => {
    expect(simulateLoad(10_000, () => 50).size).toBe(maxConcurrency);
  });

  test('stops growing once the endpoint has to queue requests', () => {
    const { size, perSecond } = simulateLoad(60_000, (inFlight) => 50 * Math.max(1, inFlight / 10));
    expect(size).toBeLessThan(60);
    expect(perSecond).toBeGreaterThan(180);
  });

  test('shrinks to one request while the endpoint times out', () => {
    expect(
      simulateLoad(
        120_000,
        () => 10_000,
        () => true,
      ).size,
    ).toBe(1);
  });

  test('converges on the concurrency above which the endpoint responds with 429', () => {
    const { size } = simulateLoad(
      30_000,
      () => 50,
      (inFlight) => inFlight > 32,
    );
    expect(size).toBeGreaterThan(8);
    expect(size).toBeLessThan(64);
  });

  test('does not shrink when latency varies', () => {
    let step = 0;
    const { size } = simulateLoad(30_000, () => ((step += 1) % 7) * 10 + 20);
    expect(size).toBeGreaterThan(initialConcurrency);
  });

  test('adapts when the endpoint becomes slower', () => {
    const { size } = simulateLoad(60_000, (_inFlight, nowMs) => (nowMs < 20_000 ? 20 : 400));
    expect(size).toBeGreaterThan(50);
  });

  test('always stays within its bounds', () => {
    const sample = fc.record({
      startedAtMs: fc.integer({ min: 0, max: 10_000 }),
      endedAtMs: fc.integer({ min: 0, max: 20_000 }),
      overloaded: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(sample, fc.boolean())), (samples) => {
        const window = createConcurrencyWindow();
        for (const [request, isBottleneck] of samples) {
          window.record(request, isBottleneck);
          expect(window.size).toBeGreaterThanOrEqual(1);
          expect(window.size).toBeLessThanOrEqual(maxConcurrency);
        }
      }),
    );
  });
});
