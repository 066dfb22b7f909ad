import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../platform/time.ts';
import type { Database } from '../store/database.ts';
import type { Quotas } from '../store/quotas.ts';
import type { Tracing } from '../trace/tracing.ts';
import { createFolderStore, createS3Store, type MediaStore, type S3Bucket } from './media-store.ts';
import { createProbeThread, type ProbeThread } from './probe-thread.ts';
import { createUploads, startUploadSweep, type Uploads } from './unused-uploads.ts';

interface MediaDeps {
  config: { mediaBucket?: S3Bucket; dataDirectory: string };
  database: Database;
  quotas: Quotas;
  clock: Clock;
  log: Logger;
  tracing: Pick<Tracing, 'run'>;
}

/** Opens the media store in the configured bucket or the data folder. Deletes unused files until `stop` is called. */
export function openMedia({ config, database, quotas, clock, log, tracing }: MediaDeps): {
  store: MediaStore;
  uploads: Uploads;
  /** Reads uploaded files. External demand has a thread of its own, so that neither waits for the other. */
  probe: ProbeThread['probe'];
  stop(): Promise<void>;
} {
  const store = config.mediaBucket
    ? createS3Store(config.mediaBucket)
    : createFolderStore(join(config.dataDirectory, 'media'));
  const uploads = createUploads({ database, store, quotas, clock, log });
  const sweep = startUploadSweep(uploads, log, tracing);
  const probeThread = createProbeThread();
  return {
    store,
    uploads,
    probe: probeThread.probe,
    async stop() {
      await Promise.all([sweep.stop(), probeThread.stop()]);
    },
  };
}
