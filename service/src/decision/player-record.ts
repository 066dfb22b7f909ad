import type { DecisionRequest } from '@trueward/protocol/wire';
import { firstIdAt } from '../platform/ids.ts';
import type { Database, Scope } from '../store/database.ts';
import { maxRecordedAds, type SeenAd } from './ad-load.ts';
import { capWindowMs, servedWithinMs } from './caps.ts';
import type { Configuration } from './configuration.ts';
import type { PlacementEntry } from './snapshot.ts';

/** What the service knows of a player's earlier ads. */
export interface PlayerRecord {
  /** Times of the verified impressions on the placement within its cap window, in Unix milliseconds. */
  servedAtMs: readonly number[];
  /** The verified impressions that the ad rules count, in all placements. */
  seenAds: readonly SeenAd[];
}

interface Input {
  scope: Scope;
  entry: PlacementEntry;
  request: Pick<DecisionRequest, 'placement'>;
  nowMs: number;
}

const noRecord: PlayerRecord = { servedAtMs: [], seenAds: [] };

/**
 * Reads a player's record. The queries are prepared: for one index of a player's ads, planning anew for each decision took
 * three times as long as reading. Runs only the queries that the placement's caps and ad rules need, so it returns
 * synchronously if they need none or the player is unknown.
 */
export function readPlayerRecord(
  { database, configuration }: { database: Database; configuration: Configuration },
  input: Input,
  viewer: string | undefined,
): PlayerRecord | Promise<PlayerRecord> {
  if (viewer === undefined) return noRecord;
  const { scope, entry } = input;
  const needed =
    entry.adRules.length === 0 ? undefined : configuration.snapshot(scope).adRules.record;
  const hasCaps = capWindowMs(entry.placement) > 0;
  if (!needed && !hasCaps) return noRecord;
  return Promise.all([
    hasCaps ? readServedTimes(database, input, viewer) : noRecord.servedAtMs,
    needed ? readSeenAds(database, input, viewer, needed) : noRecord.seenAds,
  ]).then(([servedAtMs, seenAds]) => ({ servedAtMs, seenAds }));
}

async function readServedTimes(
  database: Database,
  { scope, entry: { placement }, nowMs }: Input,
  viewer: string,
): Promise<number[]> {
  const startMs = nowMs - capWindowMs(placement);
  const rows = await database.execute<{ served_at: Date }>(
    `SELECT served_at FROM decisions
      WHERE account_id = $1 AND environment = $2 AND viewer = $3 AND placement = $4 AND served_at > $5
        AND id >= $6
      ORDER BY served_at DESC LIMIT $7`,
    [
      scope.accountId,
      scope.environment,
      viewer,
      placement.name,
      new Date(startMs),
      firstIdAt('decision', startMs - servedWithinMs),
      placement.frequency_cap?.max ?? 1,
    ],
  );
  return rows.map((row) => row.served_at.getTime());
}

async function readSeenAds(
  database: Database,
  { scope, nowMs }: Input,
  viewer: string,
  { formats, windowMs }: { formats: readonly SeenAd['format'][]; windowMs: number },
): Promise<SeenAd[]> {
  const startMs = nowMs - windowMs;
  const rows = await database.execute<Omit<SeenAd, 'atMs'> & { served_at: Date }>(
    `SELECT id, format, placement, served_at FROM decisions
      WHERE account_id = $1 AND environment = $2 AND viewer = $3 AND format = ANY($4::text[]) AND served_at > $5
        AND id >= $6
      ORDER BY served_at DESC LIMIT $7`,
    [
      scope.accountId,
      scope.environment,
      viewer,
      formats,
      new Date(startMs),
      firstIdAt('decision', startMs - servedWithinMs),
      maxRecordedAds,
    ],
  );
  return rows.map(({ id, format, placement, served_at: servedAt }) => ({
    id,
    format,
    placement,
    atMs: servedAt.getTime(),
  }));
}
