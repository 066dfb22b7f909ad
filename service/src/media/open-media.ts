import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../store/database.ts';
import type { Tracing } from '../trace/tracing.ts';
import { createFolderStore } from './folder-store.ts';
import type { MediaStore } from './media-store.ts';
import { createS3Store, type S3Bucket } from './s3-store.ts';
import { startSweep } from './sweep-uploads.ts';
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
