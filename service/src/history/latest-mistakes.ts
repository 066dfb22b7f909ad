import type { Mistake } from '@trueward/protocol/wire';
import type { Clock } from '../platform/time.ts';
import { type Database, forReads, type Scope } from '../store/database.ts';
import { findMistakes, readIntegrationFacts } from './integration-health.ts';

/** For how long the mistakes that were found are told again. */
const keptMs = 60_000;
/** Far more environments than one process serves developers in a minute. */
const maxScopes = 1_000;

/** The mistakes in an environment's integration that were found last. */
export type LatestMistakes = (scope: Scope) => readonly Mistake[];

/**
 * Creates {@link LatestMistakes}. A call never waits: if what it knows is older than a minute, it looks again in the
 * background, and a later call returns what was found.
 */
export function createLatestMistakes(database: Database, clock: Clock): LatestMistakes {
  const found = new Map<string, { mistakes: readonly Mistake[]; readAtMs: number }>();
  return (scope) => {
    const nowMs = clock.nowMs();
    const key = `${scope.accountId} ${scope.environment}`;
    const known = found.get(key) ?? { mistakes: [], readAtMs: -keptMs };
    if (nowMs - known.readAtMs >= keptMs) {
      if (found.size >= maxScopes) found.clear();
      known.readAtMs = nowMs;
      found.set(key, known);
      readIntegrationFacts(forReads(database), scope, nowMs).then(
        (facts) => void (known.mistakes = findMistakes(facts)),
        // The next minute's call tries again.
        () => undefined,
      );
    }
    return known.mistakes;
  };
}
