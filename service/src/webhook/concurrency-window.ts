/**
 * The outcome of one request, which says something about its endpoint's capacity. Times are monotonic, in milliseconds.
 */
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
   * @param isBottleneck whether more requests could have been made if the window had been larger
   */
  record(sample: Sample, isBottleneck: boolean): void;
}

export const initialConcurrency = 4;
/** If each request takes 100 ms, this is enough for 2,000 requests per second, which is the rate limit of one key. */
export const maxConcurrency = 200;
/** The weight of the latest request in the average latency. */
const smoothing = 0.2;
/**
 * Latency counts as rising when it is more than this above twice the best latency. A smaller difference may be noise
 * from the network or the host.
 */
const slackMs = 100;
/**
 * Grows the window additively and shrinks it multiplicatively, as in TCP congestion control (RFC 5681). Until the first
 * sign of congestion, the window grows by one for each response; after that, by one for each full window of responses.
 * It grows only while it is the bottleneck. Overload halves the window. Rising latency reduces it by a fifth, but never
 * below the initial size, because an endpoint whose latency varies isn't necessarily overloaded.
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
      // Requests that started before the last decrease say nothing about the current size.
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
        // With so few requests, none of them has to wait in a queue, so the endpoint itself must have become slower.
        if (size <= initialConcurrency) bestMs = averageMs;
        else decrease(0.8, initialConcurrency, endedMs);
      } else if (isBottleneck) size = Math.min(maxConcurrency, size + (slowStart ? 1 : 1 / size));
    },
  };
}
