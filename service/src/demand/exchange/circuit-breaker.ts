import { BoundedMap } from '../../platform/bounded-map.ts';
import type { Clock } from '../../platform/time.ts';

/**
 * Stops requests to hosts that keep failing. Each source has its own circuits, so that sources don't affect each other.
 */
export interface CircuitBreaker {
  /** Whether a request may be sent now. After a pause, one request at a time is allowed as a probe. */
  allows(sourceId: string, host: string): boolean;
  record(sourceId: string, host: string, succeeded: boolean): void;
  /** Returns a source's hosts whose circuits are open. */
  openHosts(sourceId: string): string[];
}

/** Number of recent results that are evaluated. */
const windowSize = 20;
/** Minimum number of results before a circuit can open, because a smaller sample is not meaningful. */
const minResults = 10;
const maxFailureRate = 0.5;
const pauseMs = 10_000;
/**
 * Bounds memory use, because wrappers can refer to any number of hosts. The least recently used circuits are evicted.
 */
const maxCircuits = 10_000;

interface Circuit {
  /** The latest results, oldest first. */
  results: boolean[];
  /** Monotonic milliseconds; undefined while the circuit is closed. */
  retryAtMs?: number | undefined;
}

export function createCircuitBreaker(clock: Pick<Clock, 'monotonicMs'>): CircuitBreaker {
  const circuits = new BoundedMap<string, Circuit>(maxCircuits);
  const makeKey = (sourceId: string, host: string): string => `${sourceId} ${host}`;
  return {
    allows(sourceId, host) {
      const circuit = circuits.get(makeKey(sourceId, host));
      if (circuit?.retryAtMs === undefined) return true;
      if (clock.monotonicMs() < circuit.retryAtMs) return false;
      // Delays the next probe until another pause has passed. If this probe succeeds, the circuit closes.
      circuit.retryAtMs = clock.monotonicMs() + pauseMs;
      return true;
    },
    record(sourceId, host, succeeded) {
      const key = makeKey(sourceId, host);
      const circuit = circuits.get(key) ?? { results: [] };
      circuits.set(key, circuit);
      if (circuit.retryAtMs !== undefined) {
        if (succeeded) circuits.delete(key);
        else circuit.retryAtMs = clock.monotonicMs() + pauseMs;
        return;
      }
      circuit.results = [...circuit.results, succeeded].slice(-windowSize);
      const failures = circuit.results.filter((result) => !result).length;
      const isFailing = failures >= circuit.results.length * maxFailureRate;
      if (circuit.results.length >= minResults && isFailing)
        circuit.retryAtMs = clock.monotonicMs() + pauseMs;
    },
    openHosts: (sourceId) =>
      [...circuits]
        .filter(([key, { retryAtMs }]) => key.startsWith(`${sourceId} `) && retryAtMs !== undefined)
        .map(([key]) => key.slice(sourceId.length + 1)),
  };
}
