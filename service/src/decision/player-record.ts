import { firstIdAt } from '../platform/ids.ts';
import type { Database, Scope } from '../store/database.ts';
import { createLane } from '../store/group-commit.ts';
import { createLanes } from '../store/lanes.ts';
import { type AdRules, maxRecordedAds, type SeenAd } from './ad-rules.ts';
import { capWindowMs, type Limits, pageRewardLimits, paysPageAds, servedWithinMs } from './caps.ts';
import type { PlacementEntry } from './snapshot.ts';

/** What the service knows of a player's earlier ads. */
export interface PlayerRecord {
  /** Times of the verified impressions on the placement within its cap window, in Unix milliseconds. */
  servedAtMs: readonly number[];
  /** Times of the ads on the placement that an ad SDK in the page has shown, within the window of their own cap. */
  pageAdsAtMs: readonly number[];
  /** The verified impressions that the ad rules count, in all placements. */
  seenAds: readonly SeenAd[];
}

interface Input {
  scope: Scope;
  entry: PlacementEntry;
  nowMs: number;
}

/**
 * Reads a player's record: only what the placement's caps and `needed`, the environment's ad rules, count. Returns
 * synchronously if that is nothing or the player is unknown.
 */
export type ReadPlayerRecord = (
  input: Input,
  viewer: string | undefined,
  needed: AdRules['record'],
) => PlayerRecord | Promise<PlayerRecord>;

const noRecord: PlayerRecord = { servedAtMs: [], pageAdsAtMs: [], seenAds: [] };

/**
 * Creates the function. The queries are prepared: for one index of a player's ads, planning anew for each decision took
 * three times as long as reading. Players of one environment who ask at the same time share the query for ad rules.
 */
export function createRecordReader(database: Database): ReadPlayerRecord {
  const seenAdLanes = createLanes<SeenAdsRequest, SeenAd[]>({
    findOwner: ({ scope }) => `${scope.accountId} ${scope.environment}`,
    openLane: () => createLane({ commit: (requests) => readSeenAds(database, requests) }),
  });
  return (input, viewer, needed) => {
    if (viewer === undefined) return noRecord;
    const { scope, entry, nowMs } = input;
    const hasCaps = capWindowMs(entry.placement) > 0;
    const hasRules = needed !== undefined && entry.adRules.length > 0;
    const hasPageCap = entry.pageSources.length > 0 && paysPageAds(entry.placement);
    if (!hasRules && !hasCaps && !hasPageCap) return noRecord;
    return Promise.all([
      hasCaps ? readServedTimes(database, input, viewer, entry.placement) : noRecord.servedAtMs,
      hasPageCap
        ? readServedTimes(database, input, viewer, pageRewardLimits(entry.placement), 'page')
        : noRecord.pageAdsAtMs,
      hasRules ? seenAdLanes.push({ scope, viewer, needed, nowMs }) : noRecord.seenAds,
    ]).then(([servedAtMs, pageAdsAtMs, seenAds]) => ({ servedAtMs, pageAdsAtMs, seenAds }));
  };
}

async function readServedTimes(
  database: Database,
  { scope, entry: { placement }, nowMs }: Input,
  viewer: string,
  limits: Limits,
  mediaFormat: string | null = null,
): Promise<number[]> {
  const startMs = nowMs - capWindowMs(limits);
  const rows = await database.execute<{ served_at: Date }>(
    `SELECT served_at FROM decisions
      WHERE account_id = $1 AND environment = $2 AND viewer = $3 AND placement = $4 AND served_at > $5
        AND id >= $6 AND ($8::text IS NULL OR media_format = $8)
      ORDER BY served_at DESC LIMIT $7`,
    [
      scope.accountId,
      scope.environment,
      viewer,
      placement.name,
      new Date(startMs),
      firstIdAt('decision', startMs - servedWithinMs),
      limits.frequency_cap?.max ?? 1,
      mediaFormat,
    ],
  );
  return rows.map((row) => row.served_at.getTime());
}

interface SeenAdsRequest {
  scope: Scope;
  viewer: string;
  needed: NonNullable<AdRules['record']>;
  nowMs: number;
}

type SeenAdRow = Omit<SeenAd, 'atMs'> & { viewer: string; served_at: Date };

/** Reads the ads of several players of one environment. */
async function readSeenAds(
  database: Database,
  requests: readonly SeenAdsRequest[],
): Promise<SeenAd[][]> {
  const [{ scope }] = requests as [SeenAdsRequest];
  // Rules may have changed in between. What a rule doesn't count is left out later.
  const startMs = Math.min(...requests.map(({ needed, nowMs }) => nowMs - needed.windowMs));
  const formats = new Set(requests.flatMap(({ needed }) => needed.formats));
  const adsOf = new Map(requests.map(({ viewer }): [string, SeenAd[]] => [viewer, []]));
  const rows = await database.execute<SeenAdRow>(
    `SELECT players.viewer, ads.* FROM unnest($3::text[]) AS players (viewer) CROSS JOIN LATERAL (
        SELECT id, format, placement, served_at FROM decisions
        WHERE account_id = $1 AND environment = $2 AND viewer = players.viewer
          AND format = ANY($4::text[]) AND served_at > $5 AND id >= $6
        ORDER BY served_at DESC LIMIT $7) AS ads`,
    [
      scope.accountId,
      scope.environment,
      [...adsOf.keys()],
      [...formats],
      new Date(startMs),
      firstIdAt('decision', startMs - servedWithinMs),
      maxRecordedAds,
    ],
  );
  for (const { viewer, id, format, placement, served_at: servedAt } of rows)
    adsOf.get(viewer)?.push({ id, format, placement, atMs: servedAt.getTime() });
  return requests.map(({ viewer }) => adsOf.get(viewer) ?? []);
}
