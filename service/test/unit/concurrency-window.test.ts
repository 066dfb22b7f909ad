import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createConcurrencyWindow,
  type InFlight,
  initialConcurrency,
  maxConcurrency,
  type RequestEnd,
} from '../../src/platform/concurrency-window.ts';

interface Response {
  ms: number;
  ok: boolean;
}

/** Responds to a request. `n` counts requests, `inFlight` those that the endpoint has, including this one. */
type Endpoint = (request: { n: number; inFlight: number; nowMs: number }) => Response;

const well: Response = { ms: 50, ok: true };
const unavailable: Response = { ms: 5, ok: false };
const limitMs = 10_000;
const hangs: Response = { ms: limitMs, ok: false };
/** A number in [0, 1) that looks random (mulberry32), so that every run is the same. */
function spread(n: number): number {
  let x = Math.imul(n + 1, 0x6d2b79f5);
  x = Math.imul(x ^ (x >>> 15), x | 1);
  x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
  return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
}

/** Sends requests without a pause for `ms`, in simulated time. */
function simulate(ms: number, endpoint: Endpoint) {
  const window = createConcurrencyWindow();
  const running: { request: InFlight; endsAtMs: number; ok: boolean }[] = [];
  const starts: number[] = [];
  const successes: number[] = [];
  let nowMs = 0;
  let maxInFlight = 0;
  while (nowMs < ms) {
    while (window.countFree(nowMs) > 0) {
      const inFlight = running.length + 1;
      const response = endpoint({ n: starts.length, inFlight, nowMs });
      const started = {
        request: window.start(nowMs),
        endsAtMs: nowMs + response.ms,
        ok: response.ok,
      };
      let place = running.length;
      while (place > 0 && (running[place - 1]?.endsAtMs ?? 0) > started.endsAtMs) place -= 1;
      running.splice(place, 0, started);
      starts.push(nowMs);
    }
    maxInFlight = Math.max(maxInFlight, window.inFlight);
    const hangAtMs = window.nextHangAtMs();
    const next = running[0];
    if (!next) throw new Error('Nothing is in flight.');
    if (hangAtMs > nowMs && hangAtMs < next.endsAtMs) {
      nowMs = hangAtMs;
      continue;
    }
    running.shift();
    nowMs = next.endsAtMs;
    window.end(next.request, next.ok ? 'ok' : 'failed', nowMs, true);
    if (next.ok) successes.push(nowMs);
  }
  const count = (times: number[], fromMs: number, toMs: number): number =>
    times.filter((atMs) => atMs >= fromMs && atMs < toMs).length;
  const perSecond = (times: number[], fromMs: number, toMs: number): number =>
    (count(times, fromMs, toMs) * 1_000) / (toMs - fromMs);
  return {
    window,
    maxInFlight,
    started: (fromMs = 0, toMs = ms) => count(starts, fromMs, toMs),
    successRate: (fromMs = 0, toMs = ms) => perSecond(successes, fromMs, toMs),
  };
}

/** Of 14 % of the requests, 11 % fail at once and 3 % hang. */
const shaky: Endpoint = ({ n }) => {
  const share = spread(n);
  if (share < 0.11) return unavailable;
  return share < 0.14 ? hangs : well;
};
/** One of `count` replicas hangs. */
const oneHangs =
  (count: number): Endpoint =>
  ({ n }) =>
    spread(n) < 1 / count ? hangs : well;

describe('a window stays open', () => {
  test.each<[string, Endpoint, number]>([
    ['all requests succeed', () => well, 3_000],
    ['14 % fail or hang', shaky, 600],
    ['one of three replicas hangs', oneHangs(3), 50],
    ['one of two replicas hangs', oneHangs(2), 25],
    [
      'one of three replicas fails at once',
      ({ n }) => (spread(n) < 1 / 3 ? unavailable : well),
      1_500,
    ],
    ['one of two replicas fails at once', ({ n }) => (n % 2 === 0 ? unavailable : well), 1_500],
    [
      'one of three replicas begins to hang',
      (request) => (request.nowMs < 10_000 ? well : oneHangs(3)(request)),
      50,
    ],
    [
      'one of two replicas is slow',
      ({ n }) => (n % 2 === 0 ? well : { ms: 700, ok: true }),
      // A slow replica takes most places: with 200 places, 500 requests per second would be ideal.
      10,
    ],
    ['the latency varies', ({ n }) => ({ ms: (n % 7) * 10 + 20, ok: true }), 1_000],
    [
      'all responses become slower',
      ({ nowMs }) => ({ ms: nowMs < 10_000 ? 20 : 400, ok: true }),
      200,
    ],
    [
      'all responses become slower than hung requests were',
      ({ nowMs }) => ({ ms: nowMs < 10_000 ? 20 : 2_000, ok: true }),
      20,
    ],
  ])('while %s', (_name, endpoint, perSecond) => {
    expect(simulate(40_000, endpoint).successRate(20_000)).toBeGreaterThan(perSecond);
  });
});

describe('a window spares an endpoint', () => {
  test.each<[string, Endpoint, { started: number; inFlight: number }]>([
    // `started`: the maximum number of requests from 30 s until 60 s.
    ['that has always hung', () => hangs, { started: 3, inFlight: 4 }],
    [
      'that begins to hang',
      ({ nowMs }) => (nowMs < 10_000 ? well : hangs),
      { started: 8, inFlight: 300 },
    ],
    [
      'that fails nine of ten requests after a second',
      ({ n }) => ({ ms: 1_000, ok: spread(n) < 0.1 }),
      { started: 120, inFlight: 8 },
    ],
    [
      'that queues requests',
      // It handles 200 per second.
      ({ inFlight }) => ({ ms: 50 * Math.max(1, inFlight / 10), ok: true }),
      { started: 7_000, inFlight: 90 },
    ],
    [
      'that has one slow worker',
      ({ inFlight }) => ({ ms: 100 * inFlight, ok: true }),
      { started: 320, inFlight: 20 },
    ],
    [
      'that queues requests until they time out',
      ({ inFlight }) => (inFlight * 2_000 < limitMs ? { ms: inFlight * 2_000, ok: true } : hangs),
      { started: 24, inFlight: 10 },
    ],
    [
      'that refuses more than 32 requests',
      ({ inFlight }) => (inFlight > 32 ? { ms: 50, ok: false } : well),
      { started: 16_000, inFlight: 65 },
    ],
  ])('%s', (_name, endpoint, limits) => {
    const { started, maxInFlight } = simulate(60_000, endpoint);
    expect(started(30_000)).toBeLessThanOrEqual(limits.started);
    expect(maxInFlight).toBeLessThanOrEqual(limits.inFlight);
  });
});

describe('a window recovers', () => {
  test.each<[string, Response]>([
    ['failed at once', unavailable],
    ['hung', hangs],
  ])('within ten seconds after all requests %s', (_name, failure) => {
    const { successRate, started } = simulate(80_000, ({ nowMs }) =>
      nowMs >= 10_000 && nowMs < 60_000 ? failure : well,
    );
    expect(started(30_000, 60_000)).toBeLessThanOrEqual(30_000 / failure.ms);
    expect(successRate(70_000, 71_000)).toBeGreaterThan(0.9 * successRate(9_000, 10_000));
  });

  test('grows to 1,000 requests per second within two seconds', () => {
    expect(simulate(2_000, () => well).successRate()).toBeGreaterThan(1_000);
  });
});

test('a window counts requests in flight, and stays within its bounds', () => {
  expect(createConcurrencyWindow().size).toBe(initialConcurrency);
  const step = fc.record({
    waitMs: fc.integer({ min: 0, max: 12_000 }),
    starts: fc.nat(300),
    ends: fc.array(
      fc.tuple(fc.nat(), fc.constantFrom<RequestEnd>('ok', 'failed', 'unknown'), fc.boolean()),
    ),
  });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const window = createConcurrencyWindow();
      const running: InFlight[] = [];
      let nowMs = 0;
      for (const { waitMs, starts, ends } of steps) {
        nowMs += waitMs;
        // Hung requests don't fill the window, but their number is limited.
        for (let n = 0; n < starts && window.countFree(nowMs) > 0; n += 1)
          running.push(window.start(nowMs));
        expect(window.inFlight).toBeLessThanOrEqual(2.5 * maxConcurrency);
        for (const [index, end, hasMore] of ends) {
          const [request] = running.splice(index % Math.max(1, running.length), 1);
          if (request) window.end(request, end, nowMs, hasMore);
        }
        expect(window.inFlight).toBe(running.length);
        expect(window.size).toBeGreaterThanOrEqual(1);
        expect(window.size).toBeLessThanOrEqual(maxConcurrency);
        expect(window.countFree(nowMs)).toBeLessThanOrEqual(window.size);
        // An idle window always lets a request through.
        if (running.length === 0) expect(window.countFree(nowMs)).toBe(window.size);
      }
    }),
  );
});
