import { createStoreFile } from '../media/ingest-media.ts';
import type { MediaStore } from '../media/media-store.ts';
import { createProbeThread } from '../media/probe-thread.ts';
import type { Uploads } from '../media/uploads.ts';
import type { Tracing } from '../trace/tracing.ts';
import { createGuardedAgent } from '../platform/guarded-agent.ts';
import { startOriginChecks } from './check-origins.ts';
import { createFetchMedia, withTestAd } from './fetch-media.ts';
import { createSubmitOffer, type IntakeDeps, type SubmitOffer } from './intake.ts';
import { createJobQueue, type JobQueue } from './job-queue.ts';
import { type LastOffers, startLastOffers } from './last-offers.ts';

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
  noteOffer: LastOffers['note'];
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
  const agents = {
    strict: createGuardedAgent({ loopback: false }),
    development: createGuardedAgent({ loopback: true }),
  };
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
    noteOffer: lastOffers.note,
    jobs: queue.jobs,
    async stop() {
      await Promise.all([originChecks.stop(), queue.stop(), lastOffers.stop()]);
      await Promise.all([
        probeThread.stop(),
        agents.strict.destroy(),
        agents.development.destroy(),
      ]);
    },
  };
}
