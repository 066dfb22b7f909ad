import type { Logger } from 'pino';
import type { Offer } from '../demand/offer.ts';
import { withoutQuery } from '../demand/web-url.ts';
import type { AuditLog } from '../store/audit-log.ts';
import type { Scope } from '../store/database.ts';
import {
  copyCaptions,
  copyIcon,
  copyVideo,
  type FetchRules,
  fetchVideo,
  type MediaDeps,
} from './copy-media.ts';
import { type RejectionReason, RejectedError } from './fetch-media.ts';
import type { JobQueue } from './job-queue.ts';
import {
  addIcon,
  changeConfiguration,
  type ChangeDeps,
  checkQuota,
  createCreative,
  findCreative,
  type Submission,
} from './external-creative.ts';

export interface IntakeDeps extends MediaDeps, ChangeDeps {
  audit: AuditLog;
  queue: JobQueue;
  log: Logger;
  development: boolean;
  /** How long to keep a creative after its last offer. If undefined, creatives are kept forever. */
  unofferedRetentionMs: number | undefined;
  demandMetrics: { countIntake(result: IntakeResult): void };
}

/** Result of an import or an origin check, for metrics. `replaced` means that the file at the origin has changed. */
export type IntakeResult = 'copied' | 'replaced' | 'archived' | 'failed' | RejectionReason;

/**
 * Queues the import of an offer's creative. The import copies its media and creates a creative that needs a review.
 * Returns immediately and never throws. Ignores offers that are in the queue or were rejected recently.
 */
export type SubmitOffer = (scope: Scope, source: Submission['source'], offer: Offer) => void;

/** How long to ignore an offer after its rejection. */
const rejectedForMs = 3_600_000;
const maxRejected = 10_000;

export function createSubmitOffer(deps: IntakeDeps): SubmitOffer {
  const { queue, clock, log, audit, database } = deps;
  /** The time at which each rejection expires, by job key, oldest first. */
  const rejectedUntilMs = new Map<string, number>();
  const rememberRejection = (key: string): void => {
    rejectedUntilMs.delete(key);
    rejectedUntilMs.set(key, clock.nowMs() + rejectedForMs);
    const [oldest] = rejectedUntilMs.keys();
    if (rejectedUntilMs.size > maxRejected && oldest !== undefined) rejectedUntilMs.delete(oldest);
  };

  return (scope, source, offer) => {
    const { creativeKey, media, icon } = offer;
    const key = JSON.stringify([
      scope.accountId,
      scope.environment,
      source.id,
      creativeKey,
      media.url.split('?', 1),
      icon?.url.split('?', 1),
    ]);
    if ((rejectedUntilMs.get(key) ?? 0) > clock.nowMs()) return;
    const run = async (signal: AbortSignal): Promise<boolean> => {
      try {
        await importCreative(deps, { scope, source, offer }, signal);
        deps.demandMetrics.countIntake('copied');
        return true;
      } catch (error) {
        if (signal.aborted) return false;
        deps.demandMetrics.countIntake(error instanceof RejectedError ? error.reason : 'failed');
        if (!(error instanceof RejectedError)) {
          log.error({ err: error, sourceId: source.id }, 'could not import an external creative');
          return false;
        }
        log.debug(
          { sourceId: source.id, creativeKey, reason: error.message },
          'external creative rejected',
        );
        if (error.isTransient) return false;
        rememberRejection(key);
        const operation = { queries: database, scope, actor: 'service' };
        const after = {
          source_key: creativeKey,
          origin_url: media.url,
          reason: error.message,
        };
        if (!isStorable(JSON.stringify(after))) return false;
        await audit
          .record(operation, { action: 'creative.refused', targetId: source.id, after })
          .catch((err: unknown) =>
            log.error({ err }, 'could not record the rejection of a creative'),
          );
        return false;
      }
    };
    queue.push({ accountId: scope.accountId, sourceId: source.id, key, run });
  };
}

/** Whether PostgreSQL can store this JSON text. */
const isStorable = (json: string): boolean => !/\\u(?:0000|d[89a-f])/i.test(json);

/** @throws RejectedError when the offer cannot be imported. */
async function importCreative(
  deps: IntakeDeps,
  submission: Submission,
  signal: AbortSignal,
): Promise<void> {
  const { scope, offer } = submission;
  checkOffer(offer);
  const loopback = deps.development && scope.environment === 'sandbox';
  const rules: FetchRules = { loopback, signal };
  const existing = await findCreative(deps.database, submission);
  if (!existing) {
    await checkQuota(deps.database, submission);
    const video = await fetchVideo(deps, offer.media.url, rules);
    const media = await copyVideo(deps, video);
    const captions = await copyCaptions(deps, offer.captions, rules);
    if (captions.length > 0) media.captions = captions;
    await changeConfiguration(deps, scope, (operation) =>
      createCreative(deps, operation, submission, media, video.sha256),
    );
  }
  const { icon } = offer;
  if (!icon || existing?.icons?.some(({ origin_url }) => origin_url === withoutQuery(icon.url)))
    return;
  const iconCopy = await copyIcon(deps, icon.url, rules);
  await changeConfiguration(deps, scope, (operation) =>
    addIcon(deps, operation, submission, iconCopy),
  );
}

const maxKeyLength = 500;
const hostname =
  /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/;

function checkOffer({ creativeKey, advertiserDomain }: Offer): void {
  if (creativeKey === '' || creativeKey.length > maxKeyLength)
    throw new RejectedError(
      'invalid_id',
      `The creative's id must have 1 to ${maxKeyLength} characters.`,
    );
  if (!isStorable(JSON.stringify(creativeKey)))
    throw new RejectedError(
      'invalid_id',
      "The creative's id contains characters that cannot be stored.",
    );
  if (advertiserDomain === undefined)
    throw new RejectedError(
      'unknown_advertiser',
      'The advertiser is unknown: the ad has no advertiser domain.',
    );
  if (!hostname.test(advertiserDomain))
    throw new RejectedError(
      'unknown_advertiser',
      `The advertiser is unknown: ${JSON.stringify(advertiserDomain.slice(0, 100))} is not a domain.`,
    );
}
