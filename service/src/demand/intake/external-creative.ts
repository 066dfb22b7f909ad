import type { Review, Source } from '@trueward/protocol/wire';
import type { Logger } from 'pino';
import type { Offer } from '../offer.ts';
import { normalizeCategory } from '../../platform/names.ts';
import { toOneLine } from '../../platform/one-line.ts';
import { type Clock, formatInstant } from '../../platform/time.ts';
import type { ResourceManager } from '../../resource/resource-manager.ts';
import { lockConfiguration } from '../../store/config-version.ts';
import { type Stored, unreviewed } from '../../resource/resource.ts';
import type { AuditLog, Operation } from '../../store/audit-log.ts';
import type { Database, Queries, Scope } from '../../store/database.ts';
import type { CreativeIcon, MediaDeps, VideoMedia } from './copy-media.ts';
import { RejectedError, type RejectionReason } from './fetch-media.ts';
import type { JobQueue } from './job-queue.ts';

/** An offer whose creative is to be imported, with its scope and source. */
export interface Submission {
  scope: Scope;
  source: Pick<Source, 'id'>;
  offer: Offer;
}

export interface ChangeDeps {
  database: Database;
  /** Reloads the account's configuration, so that this process applies the change at once. */
  configuration: { refresh(accountId: string): Promise<void> };
  resourceManager: ResourceManager;
  clock: Clock;
  /** Wakes the webhook dispatcher. Called after each change, which may have created deliveries. */
  wake(): void;
}

export interface IntakeDeps extends MediaDeps, ChangeDeps {
  audit: AuditLog;
  queue: JobQueue;
  log: Logger;
  development: boolean;
  /** How long to keep a creative after its source last offered it. If undefined, creatives are kept forever. */
  unofferedRetentionMs: number | undefined;
  demandMetrics: { countIntake(result: IntakeResult): void };
}

/** Result of an import or an origin check, for metrics. `replaced` means that the file at the origin has changed. */
export type IntakeResult = 'copied' | 'replaced' | 'archived' | 'failed' | RejectionReason;

export async function findCreative(
  queries: Queries,
  { scope, source, offer }: Submission,
): Promise<(Stored<'creative'> & { id: string }) | undefined> {
  const [row] = await queries.query<{ id: string; document: Stored<'creative'> }>(
    `SELECT id, document FROM resources
      WHERE account_id = $1 AND environment = $2 AND kind = 'creative' AND archived_at IS NULL
        AND document->>'source_id' = $3 AND document->>'source_key' = $4
      ORDER BY id LIMIT 1`,
    [scope.accountId, scope.environment, source.id, offer.creativeKey],
  );
  return row && { ...row.document, id: row.id };
}

/**
 * Maximum numbers of creatives per source, in total and pending review. Without these limits, a source that uses a new
 * id for every ad would fill up the database.
 */
const maxCreatives = 1_000;
const maxPending = 200;

/** @throws RejectedError when the source has too many creatives. */
export async function checkQuota(queries: Queries, { scope, source }: Submission): Promise<void> {
  const [row] = await queries.query<{ all: number; pending: number }>(
    `SELECT count(*)::bigint AS all,
        count(*) FILTER (WHERE document->'review'->>'status' = 'pending_review')::bigint AS pending
      FROM resources
      WHERE account_id = $1 AND environment = $2 AND kind = 'creative' AND archived_at IS NULL
        AND document->>'source_id' = $3 AND document ? 'source_key'`,
    [scope.accountId, scope.environment, source.id],
  );
  if (row && row.pending >= maxPending)
    throw new RejectedError(
      'no_room',
      `${maxPending} creatives from this source are pending review. Review some of them first.`,
    );
  if (row && row.all >= maxCreatives)
    throw new RejectedError(
      'no_room',
      `This source has ${maxCreatives} creatives. Archive those that it no longer offers.`,
    );
}

/** Makes a configuration change on behalf of the service. Has the same effects as an operator's change. */
export async function changeConfiguration(
  { database, configuration, wake }: ChangeDeps,
  scope: Scope,
  work: (operation: Operation) => Promise<void>,
): Promise<void> {
  await database.transaction(async (queries) => {
    await lockConfiguration(queries, scope.accountId);
    await work({ queries, scope, actor: 'service' });
  });
  await configuration.refresh(scope.accountId);
  wake();
}

export async function createCreative(
  { resourceManager, clock }: ChangeDeps,
  operation: Operation,
  submission: Submission,
  media: VideoMedia,
  sha256: string,
): Promise<void> {
  const { scope, source, offer } = submission;
  // Another process may have created it first.
  if (await findCreative(operation.queries, submission)) return;
  await checkQuota(operation.queries, submission);
  const advertiser = await findOrCreateAdvertiser(resourceManager, operation, offer);
  const document: Stored<'creative'> = {
    name: `${advertiser.name}: ${offer.creativeKey}`.slice(0, 200),
    advertiser_id: advertiser.id,
    source_id: source.id,
    source_key: offer.creativeKey,
    origin_url: offer.media.url,
    media,
    alt: `Video ad by ${advertiser.name}`,
    categories: selectCategories(offer),
    review: await makeReview(operation.queries, submission, clock.nowMs()),
  };
  // Reviewers see the click-through URL from the first offer.
  if (offer.clickUrl !== undefined && offer.clickUrl.length <= 2_048)
    document.click_url = offer.clickUrl;
  const created = await resourceManager.create(operation, 'creative', document);
  await operation.queries.query(
    `INSERT INTO creative_origins (account_id, environment, source_id, creative_id, sha256, due_at, offered_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [
      scope.accountId,
      scope.environment,
      source.id,
      created.document.id,
      sha256,
      new Date(clock.nowMs() + originCheckMs),
      new Date(clock.nowMs()),
    ],
  );
}

/** Time between two comparisons of a creative with its origin. */
export const originCheckMs = 86_400_000;

async function findOrCreateAdvertiser(
  resourceManager: ResourceManager,
  operation: Operation,
  { advertiserDomain = '', advertiserName }: Offer,
): Promise<{ id: string; name: string }> {
  const { queries, scope } = operation;
  const [existing] = await queries.query<{ id: string; name: string }>(
    `SELECT id, document->>'name' AS name FROM resources
      WHERE account_id = $1 AND environment = $2 AND kind = 'advertiser' AND archived_at IS NULL
        AND document->>'domain' = $3
      ORDER BY id LIMIT 1`,
    [scope.accountId, scope.environment, advertiserDomain],
  );
  if (existing) return existing;
  const name = toOneLine(advertiserName ?? '', 200) ?? advertiserDomain;
  const created = await resourceManager.create(operation, 'advertiser', {
    name,
    domain: advertiserDomain,
    categories: [],
  });
  return { id: created.document.id, name };
}

/** Drops what is not a category, so that the creative can be stored. */
const selectCategories = ({ categories }: Offer): string[] =>
  [...new Set(categories.flatMap((code) => normalizeCategory(code) ?? []))].slice(0, 50);

/**
 * Resolves to whether this advertiser's creatives from the source are approved without a review. An allowed domain includes
 * its subdomains. Reads the source, because an operator may have changed it since it made the offer.
 */
async function isApprovedAutomatically(
  queries: Queries,
  { scope, source, offer: { advertiserDomain = '' } }: Submission,
): Promise<boolean> {
  const [row] = await queries.query<{ document: Pick<Source, 'review' | 'allowed_domains'> }>(
    `SELECT document FROM resources WHERE account_id = $1 AND environment = $2 AND kind = 'source' AND id = $3
      AND archived_at IS NULL`,
    [scope.accountId, scope.environment, source.id],
  );
  const { review, allowed_domains: allowed = [] } = row?.document ?? {};
  return (
    review === 'automatic' &&
    allowed.some((domain) => `.${advertiserDomain}`.endsWith(`.${domain}`))
  );
}

async function makeReview(
  queries: Queries,
  submission: Submission,
  nowMs: number,
): Promise<Review> {
  if (!(await isApprovedAutomatically(queries, submission))) return unreviewed;
  return {
    status: 'approved',
    reason_code: 'allowed_domain',
    reviewed_at: formatInstant(nowMs),
    reviewed_by: 'service',
  };
}

const maxIcons = 8;

/**
 * Adds an icon to a creative. The creative then needs another review, except in two cases: it is approved
 * automatically, or an approved creative from the same source uses the same image.
 */
export async function addIcon(
  { resourceManager }: ChangeDeps,
  operation: Operation,
  submission: Submission,
  icon: CreativeIcon,
): Promise<void> {
  const creative = await findCreative(operation.queries, submission);
  if (!creative || creative.icons?.some(({ origin_url }) => origin_url === icon.origin_url)) return;
  const isApproved =
    (await isApprovedAutomatically(operation.queries, submission)) ||
    (await isApprovedIcon(operation, creative, icon));
  const target = { kind: 'creative' as const, id: creative.id, ifMatch: undefined };
  await resourceManager.change(operation, target, (before) => ({
    ...before,
    icons: [...(before.icons ?? []), icon].slice(-maxIcons),
    ...(before.review.status === 'approved' && !isApproved
      ? { review: { ...unreviewed, reason_code: 'new_icon' } }
      : {}),
  }));
}

async function isApprovedIcon(
  { queries, scope }: Operation,
  { source_id: sourceId }: Pick<Stored<'creative'>, 'source_id'>,
  { url }: CreativeIcon,
): Promise<boolean> {
  const rows = await queries.query(
    `SELECT id FROM resources
      WHERE account_id = $1 AND environment = $2 AND kind = 'creative' AND archived_at IS NULL
        AND document->>'source_id' = $3 AND document->'review'->>'status' = 'approved'
        AND document->'icons' @> jsonb_build_array(jsonb_build_object('url', $4::text)) LIMIT 1`,
    [scope.accountId, scope.environment, sourceId, url],
  );
  return rows.length > 0;
}
