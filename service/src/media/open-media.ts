import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../store/database.ts';
import type { Tracing } from '../trace/tracing.ts';
import { createFolderStore, type MediaStore } from './media-store.ts';
import { createS3Store, type S3Bucket } from './s3-store.ts';
import { createUploads, type Uploads } from './uploads.ts';

interface Parts {
  config: { mediaBucket?: S3Bucket; dataDirectory: string };
  database: Database;
  clock: Clock;
  log: Logger;
  tracing: Pick<Tracing, 'run'>;
}

/** Uploaded media, in the bucket that is configured or beside the data; unused ones go by themselves. */
export function openMedia({ config, database, clock, log, tracing }: Parts): {
  store: MediaStore;
  uploads: Uploads;
  stop(): Promise<void>;
} {
  const store = config.mediaBucket
    ? createS3Store(config.mediaBucket)
    : createFolderStore(join(config.dataDirectory, 'media'));
  const uploads = createUploads({ database, store, clock, log });
  return { store, uploads, stop: startSweep(uploads, log, tracing).stop };
}

const everyMs = 3_600_000;

/** Removes unused files now and then every hour, until it is stopped. Several processes may do so. */
function startSweep(
  uploads: Uploads,
  log: Logger,
  tracing: Pick<Tracing, 'run'>,
): { stop(): Promise<void> } {
  const stopped = new AbortController();
  const sweep = async (): Promise<void> => {
    try {
      const removed = await tracing.run({ name: 'upkeep unused files' }, () =>
        uploads.removeUnused(stopped.signal),
      );
      if (removed.length > 0) log.info({ removed }, 'files that no creative names were removed');
    } catch (error) {
      log.warn({ err: error }, 'unused files could not be looked for; in an hour again');
    }
  };
  let running = sweep();
  const timer = setInterval(() => {
    running = sweep();
  }, everyMs);
  timer.unref();
  return {
    async stop() {
      stopped.abort();
      clearInterval(timer);
      await running;
    },
  };
}
