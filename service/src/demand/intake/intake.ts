import { BoundedMap } from '../../platform/bounded-map.ts';
import type { Offer } from '../offer.ts';
import { withoutQuery } from '../web-url.ts';
import { createStoreFile } from '../../media/ingest-media.ts';
import type { MediaStore } from '../../media/media-store.ts';
import { createProbeThread } from '../../media/probe-thread.ts';
import type { Uploads } from '../../media/unused-uploads.ts';
import { createGuardedAgents } from '../../platform/guarded-agent.ts';
import { DomainError } from '../../platform/domain-error.ts';
import type { Scope } from '../../store/database.ts';
import type { Tracing } from '../../trace/tracing.ts';
import { startOriginChecks } from './check-origins.ts';
import { copyCaptions, copyIcon, copyVideo, type FetchRules, fetchVideo } from './copy-media.ts';
import {
  addIcon,
  changeConfiguration,
  checkQuota,
  createCreative,
  findCreative,
  type IntakeDeps,
  type Submission,
} from './external-creative.ts';
import { RejectedError, createFetchMedia, withTestAd } from './fetch-media.ts';
import { type JobQueue, createJobQueue } from './job-queue.ts';
import { type LastOffers, startLastOffers } from './last-offers.ts';

/**
 * Queues the import of an offer's creative. The import copies its media and creates a creative that needs a review.
 * Returns immediately and never throws. Ignores offers that are already queued or were rejected recently.
 */
export type SubmitOffer = (scope: Scope, source: Submission['source'], offer: Offer) => void;

/** How long to ignore a rejected offer. */
const rejectedForMs = 3_600_000;
const maxRejected = 10_000;

export function createSubmitOffer(deps: IntakeDeps): SubmitOffer {
  const { queue, clock, log, audit, database } = deps;
  /** The time at which each rejection expires, by job key, oldest first. */
  const rejectedUntilMs = new BoundedMap<string, number>(maxRejected);
  const rememberRejection = (key: string): void => {
    rejectedUntilMs.set(key, clock.nowMs() + rejectedForMs);
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
      } catch (thrown) {
        if (signal.aborted) return false;
        // The account's quota is used up.
        const error =
          thrown instanceof DomainError && thrown.code === 'quota_exceeded'
            ? new RejectedError('no_room', thrown.message)
            : thrown;
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
  const rules: FetchRules = { accountId: scope.accountId, loopback, signal };
  const existing = await findCreative(deps.database, submission);
  if (!existing) {
    await checkQuota(deps.database, submission);
    const video = await fetchVideo(deps, offer.media.url, rules);
    const media = await copyVideo(deps, scope.accountId, video);
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

interface Deps extends Omit<IntakeDeps, 'fetchMedia' | 'storeFile' | 'probe' | 'queue'> {
  mediaStore: MediaStore;
  mediaDirectory: string;
  uploads: Uploads;
  tracing: Pick<Tracing, 'run'>;
}

/** Imports creatives from external sources and checks whether their origins have changed. */
export interface Intake {
  submit: SubmitOffer;
  /** Records that a creative was offered by its source. */
  recordOffer: LastOffers['record'];
  jobs: JobQueue['jobs'];
  stop(): Promise<void>;
}

export function startIntake({
  mediaStore,
  mediaDirectory,
  uploads,
  tracing,
  ...intakeDeps
}: Deps): Intake {
  const agents = createGuardedAgents();
  const queue = createJobQueue();
  const probeThread = createProbeThread();
  const deps: IntakeDeps = {
    ...intakeDeps,
    queue,
    fetchMedia: withTestAd(createFetchMedia({ agents }), mediaDirectory),
    storeFile: createStoreFile(mediaStore, uploads),
    probe: probeThread.probe,
  };
  const originChecks = startOriginChecks({ ...deps, tracing });
  const lastOffers = startLastOffers(deps);
  return {
    submit: createSubmitOffer(deps),
    recordOffer: lastOffers.record,
    jobs: queue.jobs,
    async stop() {
      await Promise.all([originChecks.stop(), queue.stop(), lastOffers.stop()]);
      agents.destroy();
      await probeThread.stop();
    },
  };
}
