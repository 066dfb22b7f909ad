/** The outcome of a request, as a sample of its endpoint's capacity. Times come from a monotonic clock. */
export interface Sample {
  startedAtMs: number;
  endedAtMs: number;
  /** Whether the endpoint timed out, was unreachable, or returned 429 or 503. */
  overloaded: boolean;
}

/** Limits the number of concurrent requests to what an endpoint can handle without slowing down. */
export interface ConcurrencyWindow {
  /** Maximum number of concurrent requests, at least 1. */
  readonly size: number;
  /**
   * Records the outcome of a request.
   *
   * @param isBottleneck whether a larger window would have allowed more requests
   */
  record(sample: Sample, isBottleneck: boolean): void;
}

export const initialConcurrency = 4;
/** Enough for a key's rate limit of 2,000 requests per second, at 100 ms per request. */
export const maxConcurrency = 200;
/** The weight of the latest request in the exponential moving average of the latency. */
const smoothing = 0.2;
/**
 * Latency is considered to be rising if it exceeds twice the best latency by more than this. A smaller difference may
 * be noise from the network or the host.
 */
const slackMs = 100;
/**
 * Creates a window with additive increase and multiplicative decrease (AIMD), as in TCP congestion control (RFC 5681).
 * During slow start, which ends at the first sign of congestion, the window grows by one for each response. After that,
 * it grows by one for each full window of responses. It grows only while it is the bottleneck. Overload halves the
 * window. Rising latency reduces it by a fifth, but not below the initial size, because varying latency doesn't always
 * mean overload.
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
    record({ startedAtMs, endedAtMs, overloaded }, isBottleneck) {
      // Requests that started before the last decrease don't reflect the current size.
      const isCurrent = startedAtMs >= decreasedAtMs;
      if (overloaded) {
        if (isCurrent) decrease(0.5, 1, endedAtMs);
        return;
      }
      const latencyMs = endedAtMs - startedAtMs;
      bestMs = Math.min(bestMs, latencyMs);
      if (!isCurrent) return;
      averageMs =
        averageMs === undefined ? latencyMs : averageMs + smoothing * (latencyMs - averageMs);
      if (averageMs > 2 * bestMs + slackMs) {
        // With so few requests in flight, queuing can't explain the latency, so the endpoint itself must have slowed
        // down.
        if (size <= initialConcurrency) bestMs = averageMs;
        else decrease(0.8, initialConcurrency, endedAtMs);
      } else if (isBottleneck) size = Math.min(maxConcurrency, size + (slowStart ? 1 : 1 / size));
    },
  };
}
