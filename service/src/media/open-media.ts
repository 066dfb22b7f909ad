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

/** Opens the media store, in the configured bucket or the data folder; unused files are deleted automatically. */
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

const sweepIntervalMs = 3_600_000;

/** Deletes unused files now and every hour, until stopped. Safe in several processes. */
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
      if (removed.length > 0) log.info({ removed }, 'unused media files deleted');
    } catch (error) {
      log.warn({ err: error }, 'could not look for unused media files; retrying in 1 h');
    }
  };
  let running = sweep();
  const timer = setInterval(() => {
    running = sweep();
  }, sweepIntervalMs);
  timer.unref();
  return {
    async stop() {
      stopped.abort();
      clearInterval(timer);
      await running;
    },
  };
}
