/** How a request ended. `unknown`: it was aborted by this process or never sent, so it says nothing. */
export type RequestEnd = 'ok' | 'failed' | 'unknown';

/** Statuses with which an endpoint or its load balancer says that it can't handle requests now. */
const unavailableStatuses: readonly number[] = [429, 502, 503, 504];

/** Whether a status says that the endpoint can't handle requests now. Others may be caused by the request itself. */
export const isUnavailable = (status: number): boolean => unavailableStatuses.includes(status);

/** A request in flight, as its window knows it. */
export interface InFlight {
  readonly startedAtMs: number;
  /** Undefined until the request has ended or hangs. */
  failed?: boolean;
}

/**
 * Limits the number of concurrent requests to what an endpoint can handle. All times come from one monotonic clock, in
 * milliseconds.
 */
export interface ConcurrencyWindow {
  /** Maximum number of concurrent requests, at least 1. Hung requests don't count until there are too many. */
  readonly size: number;
  /** Number of requests in flight, including hung ones. */
  readonly inFlight: number;
  /** Whether a failure is probably passing, because the endpoint has answered a fair share of the other requests. */
  readonly isWell: boolean;
  /** Returns how many more requests may start. */
  countFree(nowMs: number): number;
  /** Returns when the next request will count as hung, which frees its place. `Infinity` if none will. */
  nextHangAtMs(): number;
  /** Starts a request. Each must be ended with {@link end}. */
  start(nowMs: number): InFlight;
  /**
   * Ends a request.
   *
   * @param hasMore whether a larger window would have allowed more requests
   */
  end(request: InFlight, end: RequestEnd, nowMs: number, hasMore: boolean): void;
}

export const initialConcurrency = 4;
/** Enough for a key's rate limit of 2,000 requests per second, at 100 ms per request. */
export const maxConcurrency = 200;
/**
 * Maximum number of hung requests that don't count. With requests that are given up after 10 s, 90 requests per second
 * can then start if one in three hangs, of which 60 succeed.
 */
const maxHung = 300;
/** The weight of the latest request in the exponential moving average of the latency. */
const smoothing = 0.1;
/** Number of latencies, or a full window of them if that is less, from which an average is compared. */
const minLatencies = 10;
/** The weight with which the expected latency and share of failures follow better values. */
const improvement = 0.01;
/**
 * Latency is considered to be rising if it exceeds twice the expected latency by more than this. A smaller difference
 * may be noise from the network or the host.
 */
const slackMs = 100;
/** A request is hung if it has taken longer than this, and longer than four times the average. */
const minHangMs = 1_000;
/**
 * The share of failures is considered to be rising if it exceeds the share among few requests by more than this. It is
 * at least four times the standard deviation of the share in a full window.
 */
const slackShare = 0.2;
/** The share of failures that load never explains. Two replicas of three may hang. */
const maxBackground = 0.65;

/**
 * Creates a window that grows until the endpoint shows that it has too much to do.
 *
 * Two signs are compared with how the endpoint handles few requests: the latency of the successes, and the share of
 * requests that fail or hang. What is no better with few requests isn't caused by load, so it becomes what is expected,
 * and the window grows again: a load balancer with a sick replica stays fast. If almost all requests fail, only one is
 * made at a time.
 *
 * The window grows by one for each success until the first sign of congestion, and then by two for each full window of
 * successes, while it is the bottleneck. Rising latency reduces it by up to half, but not below the initial size, because
 * varying latency doesn't always mean overload. A rising share of failures reduces it by that share.
 */
export function createConcurrencyWindow(): ConcurrencyWindow {
  let size = initialConcurrency;
  /** The size at which slow start ends. */
  let threshold = maxConcurrency;
  /** The expected latency, and the average of all requests. */
  let expectedMs: number | undefined;
  let typicalMs: number | undefined;
  /** The average of requests that started after the last decrease, and their number. */
  let averageMs = 0;
  let latencies = 0;
  let failedShare = 0;
  let background = 0;
  let samples = 1;
  let decreasedAtMs = -Infinity;
  /** Requests in flight by start, oldest first. */
  const active = new Set<InFlight>();
  const hung = new Set<InFlight>();
  /** Requests by start that haven't been counted yet. */
  const uncounted: InFlight[] = [];

  const countSize = (): number => Math.max(1, Math.floor(size));
  const isWell = (): boolean => failedShare <= maxBackground + slackShare;
  const hangMs = (): number =>
    typicalMs === undefined ? Infinity : Math.max(minHangMs, 4 * typicalMs);
  const countUsed = (): number => active.size + Math.max(0, hung.size - (isWell() ? maxHung : 0));
  const isFailing = (): boolean => failedShare > background + slackShare;

  const decrease = (factor: number, floor: number, nowMs: number): void => {
    decreasedAtMs = nowMs;
    // What almost all requests have in common doesn't show how many are too many.
    if (size > initialConcurrency) threshold = isWell() ? 0 : size / 2;
    size = Math.min(size, Math.max(floor, size * factor));
    latencies = 0;
  };

  /** Adds an outcome to the share of failures among the last four windows. */
  const count = (failed: boolean): void => {
    samples = Math.min(samples + 1, Math.max(10, 4 * size), 200);
    failedShare += ((failed ? 1 : 0) - failedShare) / samples;
    background += improvement * Math.min(0, failedShare - background);
  };

  /**
   * Counts outcomes in the order in which the requests started. In the order in which they end, hung requests would come
   * in bursts, and the others would hide them until then.
   */
  const countOutcomes = (nowMs: number): void => {
    let isRising = false;
    let counted = 0;
    for (const { failed, startedAtMs } of uncounted) {
      if (failed === undefined) break;
      counted += 1;
      count(failed);
      // Requests that started before the last decrease don't reflect the current size.
      isRising ||= failed && startedAtMs >= decreasedAtMs;
    }
    uncounted.splice(0, counted);
    if (!isRising || !isFailing()) return;
    if (!isWell()) decrease(0, 1, nowMs);
    else if (size > initialConcurrency) decrease(1 - failedShare, 1, nowMs);
    else {
      // With so few requests in flight, load can't explain the failures.
      background = Math.min(maxBackground, failedShare);
      threshold = maxConcurrency;
    }
  };

  /** Moves hung requests out of the way. */
  const sweep = (nowMs: number): void => {
    const limitMs = hangMs();
    for (const request of active) {
      if (nowMs - request.startedAtMs < limitMs) break;
      active.delete(request);
      hung.add(request);
      request.failed = true;
    }
    countOutcomes(nowMs);
  };

  /** Returns whether the latency is as expected. */
  const recordLatency = (latencyMs: number, isCurrent: boolean, nowMs: number): boolean => {
    typicalMs ??= latencyMs;
    typicalMs += smoothing * (latencyMs - typicalMs);
    if (!isCurrent) return false;
    latencies += 1;
    averageMs += Math.max(smoothing, 1 / latencies) * (latencyMs - averageMs);
    // A single slow response says little.
    if (latencies < Math.min(size, minLatencies)) return false;
    expectedMs ??= averageMs;
    expectedMs += improvement * Math.min(0, averageMs - expectedMs);
    const limitMs = 2 * expectedMs + slackMs;
    if (averageMs <= limitMs) return true;
    if (size > initialConcurrency)
      decrease(Math.min(0.8, Math.max(0.5, limitMs / averageMs)), initialConcurrency, nowMs);
    else {
      // With so few requests in flight, queuing can't explain the latency, so the endpoint itself must have slowed down.
      expectedMs = averageMs;
      threshold = maxConcurrency;
    }
    return false;
  };

  return {
    get size() {
      return countSize();
    },
    get inFlight() {
      return active.size + hung.size;
    },
    get isWell() {
      return typicalMs !== undefined && isWell();
    },
    countFree(nowMs) {
      sweep(nowMs);
      return Math.max(0, countSize() - countUsed());
    },
    nextHangAtMs() {
      for (const { startedAtMs } of active) return startedAtMs + hangMs();
      return Infinity;
    },
    start(nowMs) {
      const request: InFlight = { startedAtMs: nowMs };
      active.add(request);
      uncounted.push(request);
      return request;
    },
    end(request, end, nowMs, hasMore) {
      sweep(nowMs);
      const isFull = hasMore || countUsed() >= countSize();
      const wasHung = hung.delete(request);
      active.delete(request);
      if (end === 'unknown') uncounted.splice(uncounted.indexOf(request) >>> 0, 1);
      else if (!wasHung) request.failed = end === 'failed';
      // It was only slow.
      else if (end === 'ok') count(false);
      if (end === 'ok') {
        const isCurrent = request.startedAtMs >= decreasedAtMs;
        const mayGrow = recordLatency(nowMs - request.startedAtMs, isCurrent, nowMs);
        if (mayGrow && isFull && !isFailing())
          size = Math.min(maxConcurrency, size + (size < threshold ? 1 : 2 / size));
      }
      countOutcomes(nowMs);
    },
  };
}
