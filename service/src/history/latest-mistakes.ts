import { BoundedMap } from '../platform/bounded-map.ts';
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
  const found = new BoundedMap<string, { mistakes: readonly Mistake[]; readAtMs: number }>(
    maxScopes,
  );
  return (scope) => {
    const nowMs = clock.nowMs();
    const key = `${scope.accountId} ${scope.environment}`;
    const known = found.get(key) ?? { mistakes: [], readAtMs: -keptMs };
    if (nowMs - known.readAtMs >= keptMs) {
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

/** Reading the facts of one environment takes about 10 ms. */
const maxCounted = 20;

/**
 * Counts the environments with each mistake, among those whose keys were used last. Reads at most 20, so the cost does
 * not depend on the number of accounts.
 */
export async function countMistakes(
  database: Database,
  clock: Clock,
): Promise<Map<Mistake['name'], number>> {
  const queries = forReads(database);
  const scopes = await queries.query<Scope>(
    `SELECT account_id AS "accountId", environment FROM keys
      GROUP BY account_id, environment ORDER BY max(last_used_at) DESC NULLS LAST LIMIT ${maxCounted}`,
  );
  const counts = new Map<Mistake['name'], number>();
  for (const scope of scopes)
    for (const { name } of findMistakes(await readIntegrationFacts(queries, scope, clock.nowMs())))
      counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
