import { DomainError } from '../../platform/domain-error.ts';
import { type Stored, unreviewed } from '../../resource/resource.ts';
import type { Operation } from '../../store/audit-log.ts';
import type { Queries, Scope } from '../../store/database.ts';
import type { Tracing } from '../../trace/tracing.ts';
import { copyVideo, fetchVideo, type VideoMedia } from './copy-media.ts';
import { type FetchedFile, RejectedError } from './fetch-media.ts';
import { changeConfiguration, type IntakeDeps, originCheckMs } from './external-creative.ts';

/** A creative that is due for comparison with its origin. */
interface Origin {
  account_id: string;
  environment: Scope['environment'];
  source_id: string;
  creative_id: string;
  sha256: string;
  /** The last time that the source offered the creative. Null if unknown. */
  offered_at: Date | null;
}

const intervalMs = 60_000;
/**
 * Longer than one round of a source's comparisons can take. If the process dies, another process takes over when the
 * lease expires.
 */
const leaseMs = 1_800_000;
/** Maximum numbers of comparisons per round. */
const maxPerSource = 5;
const maxPerAccount = 100;

/**
 * Compares each approved external creative with its origin once a day, because the source could replace a reviewed file
 * under the same URL. If there are several processes, each comparison is made by only one of them.
 */
export function startOriginChecks(deps: IntakeDeps & { tracing: Pick<Tracing, 'run'> }): {
  stop(): Promise<void>;
} {
  const runRound = (): Promise<void> =>
    deps.tracing
      .run({ name: 'upkeep external creatives' }, () => checkOrigins(deps))
      .catch((error: unknown) =>
        deps.log.warn({ err: error }, 'could not check external creatives; retrying in 60 s'),
      );
  let running = runRound();
  const timer = setInterval(() => {
    running = runRound();
  }, intervalMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

/** Queues the comparisons that are due. */
async function checkOrigins(deps: IntakeDeps): Promise<void> {
  const { database, clock, queue } = deps;
  const now = new Date(clock.nowMs());
  const accounts = await database.query<{ account_id: string }>(
    'SELECT DISTINCT account_id FROM creative_origins WHERE due_at <= $1',
    [now],
  );
  for (const { account_id: accountId } of accounts) {
    for (const origin of await claimOrigins(database, accountId, now)) {
      queue.push({
        accountId,
        sourceId: origin.source_id,
        key: `origin ${origin.creative_id}`,
        run: (signal) => checkOrigin(deps, origin, signal),
      });
    }
  }
}

/**
 * Claims comparisons that are due. Two processes can't claim the same row, because PostgreSQL rechecks the condition
 * after waiting for a row lock.
 */
export const claimOrigins = (queries: Queries, accountId: string, now: Date): Promise<Origin[]> =>
  queries.query<Origin>(
    `UPDATE creative_origins SET due_at = $3
      WHERE account_id = $1 AND due_at <= $2 AND creative_id IN (
        SELECT creative_id FROM (
          SELECT creative_id, due_at, row_number() OVER (PARTITION BY source_id ORDER BY due_at) AS place
            FROM creative_origins WHERE account_id = $1 AND due_at <= $2) AS due
          WHERE place <= $4 ORDER BY due_at LIMIT $5)
      RETURNING account_id, environment, source_id, creative_id, sha256, offered_at`,
    [accountId, now, new Date(now.getTime() + leaseMs), maxPerSource, maxPerAccount],
  );

/** Compares a creative with its origin. Resolves to whether the comparison succeeded. Never rejects. */
async function checkOrigin(
  deps: IntakeDeps,
  origin: Origin,
  signal: AbortSignal,
): Promise<boolean> {
  const { database, log } = deps;
  try {
    const creative = await readCreative(database, origin);
    if (!creative) return await deleteOrigin(database, origin);
    if (isNoLongerOffered(deps, origin) && (await archive(deps, origin)))
      return await deleteOrigin(database, origin);
    // Only approved creatives are served, so no others need to be compared.
    const url = creative.origin_url;
    if (creative.review.status !== 'approved' || url === undefined)
      return await reschedule(deps, origin, origin.sha256);
    const loopback = deps.development && origin.environment === 'sandbox';
    const video = await fetchVideo(deps, url, { accountId: origin.account_id, loopback, signal });
    if (video.sha256 === origin.sha256) return await reschedule(deps, origin, origin.sha256);
    await quarantine(deps, origin, url, video);
    return await reschedule(deps, origin, video.sha256);
  } catch (error) {
    // If this process is shutting down, another process takes over when the lease expires.
    if (signal.aborted) return false;
    const isUnavailable = error instanceof RejectedError;
    if (isUnavailable)
      log.debug({ creativeId: origin.creative_id, reason: error.message }, 'origin unavailable');
    else log.error({ err: error, ...origin }, 'could not check an external creative');
    // The creative keeps serving even if its origin can't be checked, because players get the reviewed copy.
    await reschedule(deps, origin, origin.sha256).catch(() => undefined);
    return false;
  }
}

async function readCreative(
  queries: Queries,
  { account_id: accountId, environment, creative_id: id }: Origin,
): Promise<Stored<'creative'> | undefined> {
  const [row] = await queries.query<{ document: Stored<'creative'> }>(
    `SELECT document FROM resources WHERE account_id = $1 AND environment = $2
      AND kind = 'creative' AND id = $3 AND archived_at IS NULL`,
    [accountId, environment, id],
  );
  return row?.document;
}

const isNoLongerOffered = (
  { clock, unofferedRetentionMs }: IntakeDeps,
  { offered_at: offeredAt }: Origin,
): boolean =>
  unofferedRetentionMs !== undefined &&
  offeredAt !== null &&
  clock.nowMs() - offeredAt.getTime() > unofferedRetentionMs;

/**
 * Archives a creative that its source no longer offers, so that it doesn't count toward the source's quota. Rejected
 * creatives are kept. Otherwise, the next offer would import the same creative for another review.
 */
async function archive(deps: IntakeDeps, origin: Origin): Promise<boolean> {
  const { account_id: accountId, environment, creative_id: id } = origin;
  try {
    let isArchived = false;
    await changeConfiguration(deps, { accountId, environment }, async (operation) => {
      const current = await readCreative(operation.queries, origin);
      const status = current?.review.status;
      if (status !== 'approved' && status !== 'pending_review') return;
      await deps.resourceManager.archive(operation, { kind: 'creative', id, ifMatch: undefined });
      isArchived = true;
    });
    if (isArchived) deps.demandMetrics.countIntake('archived');
    return isArchived;
  } catch (error) {
    // A house ad still uses the creative, so it can't be archived.
    if (error instanceof DomainError) return false;
    throw error;
  }
}

async function deleteOrigin(
  queries: Queries,
  { account_id: accountId, creative_id: id }: Origin,
): Promise<true> {
  await queries.query('DELETE FROM creative_origins WHERE account_id = $1 AND creative_id = $2', [
    accountId,
    id,
  ]);
  return true;
}

/**
 * Schedules the next comparison.
 *
 * @param sha256 the hash of the latest file that was fetched, so that each change is reported once
 */
async function reschedule(
  { database, clock }: IntakeDeps,
  { account_id: accountId, creative_id: id }: Origin,
  sha256: string,
): Promise<true> {
  await database.query(
    `UPDATE creative_origins SET sha256 = $3, due_at = $4, offered_at = coalesce(offered_at, $5)
      WHERE account_id = $1 AND creative_id = $2`,
    [accountId, id, sha256, new Date(clock.nowMs() + originCheckMs), new Date(clock.nowMs())],
  );
  return true;
}

/**
 * Returns a creative to the review queue after its file has changed. The creative gets a copy of the new file, or keeps
 * the old copy if the new file cannot be shown. Changed files are never approved automatically.
 */
async function quarantine(
  deps: IntakeDeps,
  origin: Origin,
  url: string,
  video: FetchedFile,
): Promise<void> {
  const { account_id: accountId, environment, creative_id: id } = origin;
  const copy = await tryCopy(deps, accountId, video);
  await changeConfiguration(deps, { accountId, environment }, async (operation: Operation) => {
    const current = await readCreative(operation.queries, origin);
    // An operator may have changed the creative in the meantime.
    if (current?.review.status !== 'approved' || current.origin_url !== url) return;
    const kind = 'creative' as const;
    const target = { kind, id, ifMatch: undefined, action: 'origin_changed' };
    await deps.resourceManager.change(operation, target, (before) => ({
      ...before,
      ...('media' in copy ? { media: withCaptions(copy.media, before.media) } : {}),
      review: {
        ...unreviewed,
        reason_code: 'origin_changed',
        feedback:
          'media' in copy
            ? 'The source replaced the file after it was approved.'
            : `The source replaced the file after it was approved. The new file cannot be shown: ${copy.problem}`,
      },
    }));
  });
  deps.demandMetrics.countIntake('replaced');
  deps.log.warn(
    { creativeId: id, sourceId: origin.source_id },
    "an external creative's file has changed",
  );
}

async function tryCopy(
  deps: IntakeDeps,
  accountId: string,
  video: FetchedFile,
): Promise<{ media: VideoMedia } | { problem: string }> {
  try {
    return { media: await copyVideo(deps, accountId, video) };
  } catch (error) {
    // A DomainError means that the account has no room for the file.
    if (error instanceof RejectedError || error instanceof DomainError)
      return { problem: error.message };
    throw error;
  }
}

const withCaptions = (media: VideoMedia, before: Stored<'creative'>['media']): VideoMedia =>
  before.format === 'video' && before.captions ? { ...media, captions: before.captions } : media;
