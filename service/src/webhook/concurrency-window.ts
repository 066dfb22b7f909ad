/** The outcome of one request, as a sample of its endpoint's capacity. Times are monotonic, in milliseconds. */
export interface Sample {
  startedMs: number;
  endedMs: number;
  /** Whether the endpoint timed out, could not be reached, or responded with 429 or 503. */
  overloaded: boolean;
}

/** Limits the concurrent requests to one endpoint to the number that it can handle without slowing down. */
export interface ConcurrencyWindow {
  /** Maximum number of concurrent requests, at least 1. */
  readonly size: number;
  /**
   * Records the outcome of a request.
   *
   * @param isBottleneck whether more deliveries were due than the window allowed
   */
  record(sample: Sample, isBottleneck: boolean): void;
}

export const initialConcurrency = 4;
/** Enough for 2,000 requests per second, the rate limit of one key, at 100 ms each. */
export const maxConcurrency = 200;
/** The weight of the latest request in the average latency. */
const smoothing = 0.2;
/**
 * Latency counts as rising above twice the best latency plus this; smaller differences may be noise from the network or
 * the host.
 */
const slackMs = 100;
/**
 * Additive increase, multiplicative decrease, as in TCP congestion control (RFC 5681): the window grows by one per
 * response until the first sign of congestion, then by one per window, and only while it is the bottleneck. Overload
 * halves the window. Rising latency reduces it by a fifth, but never below the initial size, because an endpoint with
 * varying latency is not necessarily overloaded.
 */
export function createConcurrencyWindow(): ConcurrencyWindow {
  let size = initialConcurrency;
  let slowStart = true;
  let bestMs = Infinity;
  let averageMs: number | undefined;
  let decreasedAtMs = -Infinity;

  const decrease = (factor: number, floor: number, nowMs: number): void => {
    slowStart = false;
    decreasedAtMs = nowMs;
    size = Math.min(size, Math.max(floor, size * factor));
    averageMs = undefined;
  };

  return {
    get size() {
      return Math.max(1, Math.floor(size));
    },
    record({ startedMs, endedMs, overloaded }, isBottleneck) {
      // Requests from before the last decrease say nothing about the current size.
      const isCurrent = startedMs >= decreasedAtMs;
      if (overloaded) {
        if (isCurrent) decrease(0.5, 1, endedMs);
        return;
      }
      const latencyMs = endedMs - startedMs;
      bestMs = Math.min(bestMs, latencyMs);
      if (!isCurrent) return;
      averageMs =
        averageMs === undefined ? latencyMs : averageMs + smoothing * (latencyMs - averageMs);
      if (averageMs > 2 * bestMs + slackMs) {
        // With so few requests, none are queued: the endpoint itself has become slower.
        if (size <= initialConcurrency) bestMs = averageMs;
        else decrease(0.8, initialConcurrency, endedMs);
      } else if (isBottleneck) size = Math.min(maxConcurrency, size + (slowStart ? 1 : 1 / size));
    },
  };
}
