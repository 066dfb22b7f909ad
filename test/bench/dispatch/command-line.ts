import { readOptions } from '../../../scripts/lib/read-options.mjs';
import { type Contender, contenders } from './contenders.ts';

/** How much to measure. */
export interface Plan {
  /** Number of deliveries in a measured run. */
  count: number;
  warmUp: number;
  /** Number of deliveries in a run that compares a contender's settings. */
  tuning: number;
  rounds: number;
  crashes: number;
}

/** The parsed command line. */
export interface CommandLine {
  plan: Plan;
  selectedContenders: readonly Contender[];
  /** Whether the run measures everything. An incomplete run must not replace the published results. */
  isComplete: boolean;
}

const fullPlan: Plan = { count: 10_000, warmUp: 2_000, tuning: 4_000, rounds: 5, crashes: 2 };
const quickPlan: Plan = { count: 2_000, warmUp: 500, tuning: 1_000, rounds: 1, crashes: 1 };

const { only, quick, count, rounds } = readOptions({
  name: 'bench:dispatch',
  about: `Compares the service's webhook delivery with job queues: pg-boss and graphile-worker on the same PostgreSQL server,
and BullMQ on Redis. Everything runs on this machine. The exit code does not depend on timings: it is 0 unless the
benchmark fails. Requires Linux, PostgreSQL and, for BullMQ, redis-server. Takes about 9 minutes.

A complete run replaces docs/benchmarks/dispatch; others write to .cache/bench-dispatch.
Environment: POSTGRES_BIN is the folder that contains initdb and postgres; by default, the newest installed version
is used.`,
  options: {
    only: {
      type: 'name',
      names: contenders.map(({ name }) => name),
      several: true,
      help: 'contenders',
    },
    quick: 'fewer deliveries and rounds: about 2 minutes',
    count: {
      type: 'whole',
      help: `deliveries per run; default: ${fullPlan.count}, quick ${quickPlan.count}`,
    },
    rounds: {
      type: 'whole',
      help: `measured runs per contender; default: ${fullPlan.rounds}, quick ${quickPlan.rounds}`,
    },
  },
});
const plan = quick ? quickPlan : fullPlan;

/** The parsed command line. */
export const commandLine: CommandLine = {
  plan: { ...plan, count: count ?? plan.count, rounds: rounds ?? plan.rounds },
  selectedContenders: contenders.filter(({ name }) => only.includes(name)),
  isComplete:
    only.length === contenders.length && count === undefined && rounds === undefined && !quick,
};
