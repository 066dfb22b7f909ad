/** A unit of work for one of a source's creatives. */
export interface Job {
  accountId: string;
  sourceId: string;
  /** Deduplicates jobs: while a job is waiting or running, further jobs with the same key are dropped. */
  key: string;
  /** Runs the job. Resolves to whether it succeeded. Never rejects. */
  run(signal: AbortSignal): Promise<boolean>;
}

export interface JobQueue {
  /** Returns false if the job was dropped: either it is a duplicate, or its source has too many jobs. */
  push(job: Job): boolean;
  /** Returns the numbers of running and waiting jobs. */
  jobs(): { running: number; waiting: number };
  /** Drops waiting jobs, aborts running jobs, and resolves when all have settled. */
  stop(): Promise<void>;
}

interface Limits {
  /** Maximum number of concurrent jobs. Each holds a file of up to 20 MiB in memory. */
  running: number;
  runningPerAccount: number;
  waitingPerSource: number;
  /** Initial back-off after one of a source's jobs fails. Doubles with each consecutive failure. */
  pauseMs: number;
  maxPauseMs: number;
}

const defaults: Limits = {
  running: 6,
  runningPerAccount: 2,
  waitingPerSource: 50,
  pauseMs: 1_000,
  maxPauseMs: 60_000,
};

interface SourceState {
  accountId: string;
  waiting: Job[];
  isRunning: boolean;
  /** Consecutive failures. */
  failures: number;
  /** Set while the source is paused. */
  timer?: NodeJS.Timeout;
}

/**
 * Runs each source's jobs one at a time, in order. Serves the sources round-robin, and limits the number of concurrent
 * jobs per account, so that slow files don't delay other accounts.
 */
export function createJobQueue(limits: Partial<Limits> = {}): JobQueue {
  const { running, runningPerAccount, waitingPerSource, pauseMs, maxPauseMs } = {
    ...defaults,
    ...limits,
  };
  /** All sources, in round-robin order. */
  const sources = new Map<string, SourceState>();
  const keys = new Set<string>();
  /** Running jobs, with the account of each. */
  const activeJobs = new Map<Promise<void>, string>();
  const stopping = new AbortController();

  const start = (id: string, state: SourceState, job: Job): void => {
    state.isRunning = true;
    // Moves the source to the end of the round-robin order.
    sources.delete(id);
    sources.set(id, state);
    const completion = job.run(stopping.signal).then((succeeded) => {
      activeJobs.delete(completion);
      keys.delete(job.key);
      state.isRunning = false;
      if (succeeded) state.failures = 0;
      else pause(id, state);
      removeIfIdle(id, state);
      startJobs();
    });
    activeJobs.set(completion, state.accountId);
  };

  const pause = (id: string, state: SourceState): void => {
    const ms = Math.min(maxPauseMs, pauseMs * 2 ** Math.min(state.failures, 20));
    state.failures += 1;
    state.timer = setTimeout(() => {
      delete state.timer;
      startJobs();
    }, ms);
    state.timer.unref();
  };

  /** Removes an idle source. Keeps it if its last job failed, because the next pause depends on `failures`. */
  const removeIfIdle = (id: string, { isRunning, waiting, failures }: SourceState): void => {
    if (!isRunning && waiting.length === 0 && failures === 0) sources.delete(id);
  };

  const startJobs = (): void => {
    // Starting a job moves its source to the end of the map, so the loop visits it again and skips it.
    for (const [id, state] of sources) {
      if (stopping.signal.aborted || activeJobs.size >= running) return;
      if (state.isRunning || state.timer !== undefined) continue;
      const accountJobs = [...activeJobs.values()].filter((id) => id === state.accountId);
      if (accountJobs.length >= runningPerAccount) continue;
      const job = state.waiting.shift();
      if (job) start(id, state, job);
    }
  };

  return {
    push(job) {
      if (stopping.signal.aborted || keys.has(job.key)) return false;
      const id = `${job.accountId} ${job.sourceId}`;
      const state = sources.get(id) ?? {
        accountId: job.accountId,
        waiting: [],
        isRunning: false,
        failures: 0,
      };
      if (state.waiting.length >= waitingPerSource) return false;
      sources.set(id, state);
      state.waiting.push(job);
      keys.add(job.key);
      startJobs();
      return true;
    },
    jobs: () => ({ running: activeJobs.size, waiting: keys.size - activeJobs.size }),
    async stop() {
      stopping.abort();
      for (const { timer } of sources.values()) clearTimeout(timer);
      await Promise.all(activeJobs.keys());
    },
  };
}
