import type { Job } from '@trueward/protocol/wire';
import type { Logger } from 'pino';
import { createRest } from '../platform/create-rest.ts';
import type { Clock } from '../platform/time.ts';
import type { Database } from '../store/database.ts';
import type { Tracing } from '../trace/tracing.ts';
import { type JobStep, runStep } from './jobs.ts';

interface Deps {
  /** The database for background work. */
  database: Database;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  tracing: Pick<Tracing, 'run'>;
  steps: Readonly<Record<Job['kind'], JobStep>>;
  /** Called after each step. */
  onStep(): void;
}

/** How often a process looks for jobs that another one has started, or left behind. */
const pollMs = 10_000;
/** The pause when every job waits for something. */
const pauseMs = 250;

/**
 * Runs all jobs, one step of each in turn. Every process does: the database decides who does a step. Nothing is locked
 * between two steps, so a job that takes an hour delays nobody, and survives the process.
 */
export function startJobs(deps: Deps): { wake(): void; stop(): Promise<void> } {
  const { database, log, tracing } = deps;
  const stopping = new AbortController();
  const run = async (): Promise<void> => {
    const rest = createRest();
    while (!stopping.signal.aborted) {
      const jobs = await database.query<{ accountId: string; id: string }>(
        `SELECT account_id AS "accountId", id FROM jobs WHERE state = 'running' ORDER BY id LIMIT 50`,
      );
      const results: boolean[] = [];
      for (const job of jobs) results.push(!stopping.signal.aborted && (await advance(deps, job)));
      if (jobs.length === 0) return;
      await (results.some(Boolean) ? rest() : wait(pauseMs, stopping.signal));
    }
  };
  let running: Promise<void> | undefined;
  let isWoken = false;
  const wake = (): void => {
    isWoken = true;
    if (running || stopping.signal.aborted) return;
    isWoken = false;
    running = tracing
      .run({ name: 'jobs' }, run)
      .catch((error: unknown) => log.warn({ err: error }, 'could not run jobs; retrying in 10 s'))
      .finally(() => {
        running = undefined;
        if (isWoken) wake();
      });
  };
  const timer = setInterval(wake, pollMs);
  timer.unref();
  wake();
  return {
    wake,
    async stop() {
      stopping.abort();
      clearInterval(timer);
      await running;
    },
  };
}

/** Runs a job's next step. Returns whether the job should be continued immediately. */
async function advance(
  { database, clock, log, steps, onStep }: Deps,
  job: { accountId: string; id: string },
): Promise<boolean> {
  try {
    const result = await database.transaction(
      (queries) => runStep(queries, job, steps, clock.nowMs()),
      { preferIndexes: true },
    );
    if (result) onStep();
    return result !== undefined && result.isWaiting !== true;
  } catch (error) {
    log.warn({ err: error, ...job }, 'a step of a job failed and will be repeated');
    return false;
  }
}

const wait = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener('abort', finish);
  });
