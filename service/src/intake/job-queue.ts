/** Work for one creative of a source. */
export interface Job {
  accountId: string;
  sourceId: string;
  /** A job with the same key as one that waits or runs is dropped. */
  key: string;
  /** Never rejects; resolves to whether it succeeded. */
  run(signal: AbortSignal): Promise<boolean>;
}

export interface JobQueue {
  /** False if the job was dropped, because it is known or its source has too many. */
  push(job: Job): boolean;
  /** How many jobs there are. */
  jobs(): { running: number; waiting: number };
  /** Drops waiting jobs, aborts the running ones, and resolves when they have ended. */
  stop(): Promise<void>;
}

interface Limits {
  /** Jobs that run at the same time: each holds a file of up to 20 MiB. */
  running: number;
  runningOfAccount: number;
  waitingOfSource: number;
  /** After failures in a row, a source pauses: this long after the first, then twice as long after each. */
  pauseMs: number;
  maxPauseMs: number;
}

const defaults: Limits = {
  running: 6,
  runningOfAccount: 2,
  waitingOfSource: 50,
  pauseMs: 1_000,
  maxPauseMs: 60_000,
};

interface SourceState {
  accountId: string;
  waiting: Job[];
  isRunning: boolean;
  failures: number;
  /** While the source pauses. */
  timer?: NodeJS.Timeout;
}

/**
 * Runs one job of a source at a time, in order. Sources take turns, and an account has a share of what runs at
 * the same time, so that nobody waits for another's slow or unusable files.
 */
export function createJobQueue(limits: Partial<Limits> = {}): JobQueue {
  const { running, runningOfAccount, waitingOfSource, pauseMs, maxPauseMs } = {
    ...defaults,
    ...limits,
  };
  /** In the order of their turns. */
  const sources = new Map<string, SourceState>();
  const keys = new Set<string>();
  const active = new Map<Promise<void>, string>();
  const stopping = new AbortController();

  const start = (id: string, state: SourceState, job: Job): void => {
    state.isRunning = true;
    // To the end of the line.
    sources.delete(id);
    sources.set(id, state);
    const work = job.run(stopping.signal).then((succeeded) => {
      active.delete(work);
      keys.delete(job.key);
      state.isRunning = false;
      if (succeeded) state.failures = 0;
      else pause(id, state);
      forgetIdle(id, state);
      startNext();
    });
    active.set(work, state.accountId);
  };

  const pause = (id: string, state: SourceState): void => {
    const ms = Math.min(maxPauseMs, pauseMs * 2 ** Math.min(state.failures, 20));
    state.failures += 1;
    state.timer = setTimeout(() => {
      delete state.timer;
      startNext();
    }, ms);
    state.timer.unref();
  };

  /** A source whose last job failed is kept, so that its pauses grow. */
  const forgetIdle = (id: string, { isRunning, waiting, failures }: SourceState): void => {
    if (!isRunning && waiting.length === 0 && failures === 0) sources.delete(id);
  };

  const startNext = (): void => {
    // Starting a job moves its source to the end of the map, where this loop skips it because it is running.
    for (const [id, state] of sources) {
      if (stopping.signal.aborted || active.size >= running) return;
      if (state.isRunning || state.timer !== undefined) continue;
      const ofAccount = [...active.values()].filter((each) => each === state.accountId);
      if (ofAccount.length >= runningOfAccount) continue;
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
      if (state.waiting.length >= waitingOfSource) return false;
      sources.set(id, state);
      state.waiting.push(job);
      keys.add(job.key);
      startNext();
      return true;
    },
    jobs: () => ({ running: active.size, waiting: keys.size - active.size }),
    async stop() {
      stopping.abort();
      for (const { timer } of sources.values()) clearTimeout(timer);
      await Promise.all(active.keys());
    },
  };
}
