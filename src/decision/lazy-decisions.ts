import type { Availability } from '../outcome.ts';
import { bounded, type NoResult } from '../platform/bounded.ts';
import type { DecisionsParts } from './create-decisions.ts';
import type { Decisions, NoAd } from './decisions.ts';

const notLoaded: Record<NoResult, NoAd> = {
  aborted: { outcome: 'aborted' },
  failed: { outcome: 'error', reason: 'chunk_not_loaded' },
  timeout: { outcome: 'timeout', reason: 'load_timeout' },
};

/** {@link Decisions} whose code is loaded with the first request: a game starts without it. */
export function lazyDecisions(parts: DecisionsParts): Decisions {
  let decisions: Decisions | undefined;
  let loading: Promise<Decisions> | undefined;
  let destroyed = false;

  async function load(): Promise<Decisions> {
    try {
      const { createDecisions } = await import('./create-decisions.ts');
      decisions ??= createDecisions(parts);
      if (destroyed) decisions.destroy();
      return decisions;
    } finally {
      // What failed is tried again by the next request.
      loading = undefined;
    }
  }

  /** The loaded decisions, or why there are none. */
  const opened = async (signal: AbortSignal): Promise<Decisions | NoAd> => {
    const result =
      decisions ??
      (await bounded(parts.clock, parts.loadTimeoutMs, signal, () => (loading ??= load())));
    return typeof result === 'string' ? notLoaded[result] : result;
  };

  return {
    async take(placement, signal) {
      const result = await opened(signal);
      return 'take' in result ? result.take(placement, signal) : result;
    },
    async preload(placement, signal, given) {
      const result = await opened(signal);
      return 'take' in result
        ? result.preload(placement, signal, given)
        : { available: false, reason: result.outcome };
    },
    availability(placement): Availability {
      if (decisions) return decisions.availability(placement);
      if (destroyed) return { available: false, reason: 'aborted' };
      if (!parts.isKnown()) return { available: false, reason: 'not_ready' };
      return parts.isOnline() ? { available: true } : { available: false, reason: 'offline' };
    },
    forget: () => decisions?.forget(),
    destroy() {
      destroyed = true;
      decisions?.destroy();
    },
  };
}
