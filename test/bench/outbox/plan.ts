/** How much to measure. */
export interface Plan {
  /** Queue lengths at which the cost per event is measured, in increasing order. */
  lengths: number[];
  /** Number of events to measure at each length, one every other frame. */
  samples: number;
  /** Total time budget for filling a queue, in milliseconds. A slow queue may not reach all lengths. */
  fillBudgetMs: number;
  /** Time budget for draining a queue, in milliseconds. */
  drainBudgetMs: number;
  idleMs: number;
  kills: { events: number; perFrame: number; delaysMs: number[] }[];
  /** Number of events in the fault-injection measurement, which drops a response and kills the browser. */
  faultyEvents: number;
  /** The run's time budget, in milliseconds. Jobs that would start later are skipped. */
  budgetMs: number;
}

export const fullPlan: Plan = {
  lengths: [0, 100, 1_000, 10_000],
  samples: 90,
  fillBudgetMs: 10_000,
  drainBudgetMs: 12_000,
  idleMs: 3_000,
  kills: [
    { events: 1_000, perFrame: 25, delaysMs: [0, 50, 500] },
    { events: 10_000, perFrame: 50, delaysMs: [0, 50, 500] },
  ],
  faultyEvents: 300,
  budgetMs: 23.5 * 60_000,
};

export const quickPlan: Plan = {
  ...fullPlan,
  lengths: [0, 1_000],
  samples: 50,
  fillBudgetMs: 2_000,
  drainBudgetMs: 3_000,
  idleMs: 1_000,
  kills: [{ events: 1_000, perFrame: 25, delaysMs: [0] }],
  budgetMs: 2.5 * 60_000,
};

/** A quick run's default contenders. */
export const quickContenders = ['ours', 'raw-group', 'workbox', 'sentry', 'snowplow', 'nothing'];
