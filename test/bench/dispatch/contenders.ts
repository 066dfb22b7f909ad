export type Name = 'ours' | 'pg-boss' | 'graphile-worker' | 'bullmq';

/** One configuration of a contender. */
export interface Setting {
  /** The configuration's name in the published tables. */
  label: string;
  options: object;
}

/** A way to deliver webhooks. */
export interface Contender {
  name: Name;
  /** The contender's npm package, if any. */
  package?: string;
  license?: string;
  settings: readonly [Setting, ...Setting[]];
  /** How jobs are recovered after a worker crash. */
  recovery: string;
}

/**
 * How long a worker may hold a job before it is presumed dead, in seconds. Same as the service's own lease.
 */
export const leaseS = 20;

const boss = (workers: number, batchSize: number, notify: boolean): Setting => ({
  label: `${workers} workers, batches of ${batchSize}, polling every 0.5 s${notify ? ', notifyWorker() after a full batch' : ''}`,
  options: { workers, batchSize, notify, poolSize: 10 },
});

/** Without batching, each running job needs its own connection. */
const graphile = (concurrentJobs: number, batched: boolean): Setting => ({
  label: batched
    ? `concurrency ${concurrentJobs}, localQueue of ${2 * concurrentJobs}, completeJobBatchDelay and failJobBatchDelay 5 ms, pool of 10`
    : `concurrency ${concurrentJobs}, pool of ${concurrentJobs}`,
  options: {
    concurrency: concurrentJobs,
    worker: {
      concurrentJobs,
      maxPoolSize: batched ? 10 : concurrentJobs,
      ...(batched
        ? {
            localQueue: { size: 2 * concurrentJobs },
            completeJobBatchDelay: 5,
            failJobBatchDelay: 5,
          }
        : {}),
    },
  },
});

const bull = (concurrency: number): Setting => ({
  label: `concurrency ${concurrency}, removeOnComplete`,
  options: { concurrency },
});

/** All contenders, in table order. */
export const contenders: readonly Contender[] = [
  {
    name: 'ours',
    settings: [{ label: 'defaults', options: {} }],
    recovery: `a lease of ${leaseS} s (default)`,
  },
  {
    name: 'pg-boss',
    package: 'pg-boss',
    license: 'MIT',
    settings: [boss(4, 64, false), boss(4, 64, true), boss(2, 100, true), boss(8, 64, true)],
    recovery: `expireInSeconds ${leaseS} (default 900), maintenanceIntervalSeconds 10 (default 120)`,
  },
  {
    name: 'graphile-worker',
    package: 'graphile-worker',
    license: 'MIT',
    settings: [graphile(64, false), graphile(64, true), graphile(200, true)],
    recovery:
      'forceUnlockWorkers() on restart, for the workers that hold jobs; otherwise, their jobs would stay locked for 4 hours; safe only if no other worker is running',
  },
  {
    name: 'bullmq',
    package: 'bullmq',
    license: 'MIT',
    settings: [bull(64), bull(200), bull(400)],
    recovery: `lockDuration ${leaseS} s (default 30), stalledInterval 10 s (default 30)`,
  },
];
