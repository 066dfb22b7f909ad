import type { Placement } from '@trueward/protocol/wire';
import type { DecisionState } from '../decision/decision-state.ts';
import type { PlacementEntry, Snapshot } from '../decision/snapshot.ts';
import { toDocument } from '../resource/resource-store.ts';
import type { Queries, Scope } from '../store/database.ts';

/**
 * Adds the archived placements of these decisions to a snapshot. Otherwise, ads that a player has requested in advance
 * would earn rewards without the placement's caps, identity and kill switches once it is archived.
 */
export async function withArchivedPlacements(
  queries: Queries,
  scope: Scope,
  snapshot: Snapshot,
  decisions: Iterable<Pick<DecisionState, 'placement'>>,
): Promise<Snapshot> {
  const names = new Set<string>();
  for (const { placement } of decisions)
    if (!snapshot.placements.has(placement)) names.add(placement);
  if (names.size === 0) return snapshot;
  const placements = await readArchived(queries, scope, [...names]);
  const entries = placements.map((placement) => [placement.name, toEntry(placement)] as const);
  return { ...snapshot, placements: new Map([...snapshot.placements, ...entries]) };
}

/** Nothing may be requested for it any more. */
const toEntry = (placement: Placement): PlacementEntry => ({
  placement,
  candidates: [],
  sources: [],
  pageSources: [],
  policies: [],
  adRules: [],
});

/** Reads the placements that had these names last. */
async function readArchived(
  queries: Queries,
  { accountId, environment }: Scope,
  names: readonly string[],
): Promise<Placement[]> {
  const rows = await queries.query<Parameters<typeof toDocument>[0]>(
    `SELECT DISTINCT ON (document->>'name') id, environment, document, created_at, updated_at FROM resources
      WHERE account_id = $1 AND environment = $2 AND kind = 'placement' AND document->>'name' = ANY($3::text[])
      ORDER BY document->>'name', id DESC`,
    [accountId, environment, names],
  );
  return rows.map((row) => toDocument<'placement'>(row));
}
