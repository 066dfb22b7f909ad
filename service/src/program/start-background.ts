import type { Job } from '@trueward/protocol/wire';
import type { Logger } from 'pino';
import type { JobStep } from '../history/jobs.ts';
import type { Retention } from '../history/delete-old-rows.ts';
import { erasePlayer } from '../history/erase-player.ts';
import { startJobs } from '../history/start-jobs.ts';
import { startUpkeep } from '../history/start-upkeep.ts';
import type { Clock } from '../platform/time.ts';
import { type Database, forBackground } from '../store/database.ts';
import type { Tracing } from '../trace/tracing.ts';

interface Deps {
  database: Database;
  clock: Clock;
  log: Logger;
  tracing: Tracing;
  retention: Retention;
  recoveryStep: JobStep;
  /** Called after each step of a job. */
  onStep(): void;
}

/** Starts the work in which nobody waits for a single statement: maintenance and jobs. */
export async function startBackground(
  deps: Deps,
): Promise<{ wakeJobs(): void; stop(): Promise<void> }> {
  const { clock, log, tracing, retention, recoveryStep, onStep } = deps;
  const common = { database: forBackground(deps.database), clock, log, tracing };
  const steps: Record<Job['kind'], JobStep> = { recovery: recoveryStep, erasure: erasePlayer };
  const upkeep = await startUpkeep({ ...common, retention });
  const jobs = startJobs({ ...common, steps, onStep });
  return {
    wakeJobs: jobs.wake,
    async stop() {
      await Promise.all([upkeep.stop(), jobs.stop()]);
    },
  };
}
