import type { Logger } from 'pino';
import type { Tracing } from '../trace/tracing.ts';
import type { Uploads } from './uploads.ts';

const everyMs = 3_600_000;

/** Removes unused files now and then every hour, until it is stopped. Several processes may do so. */
export function startSweep(
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
