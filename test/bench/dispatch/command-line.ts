import { parseArgs } from 'node:util';
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

export const help = `npm run bench:dispatch [-- options]

Compares the service's webhook delivery with job queues: pg-boss and graphile-worker on the same PostgreSQL server,
and BullMQ on Redis. Everything runs on this machine. The exit code does not depend on timings: it is 0 unless the
benchmark fails. Requires Linux, PostgreSQL and, for BullMQ, redis-server.

  --only <names>   contenders, separated by commas: ${contenders.map(({ name }) => name).join(', ')}
  --quick          fewer deliveries and rounds: about 2 minutes instead of 9
  --count <n>      deliveries per run (default ${fullPlan.count}, quick ${quickPlan.count})
  --rounds <n>     measured runs per contender (default ${fullPlan.rounds}, quick ${quickPlan.rounds})
  --help           this text

A complete run replaces docs/benchmarks/dispatch; others write to .cache/bench-dispatch.
Environment: POSTGRES_BIN is the folder that contains initdb and postgres; by default, the newest installed version
is used.`;

/** Parses the arguments. @throws Error if they are invalid. The message lists the expected values. */
export function readCommandLine(args: string[]): CommandLine | 'help' {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      count: { type: 'string' },
      rounds: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const plan = { ...(values.quick ? quickPlan : fullPlan) };
  if (values.count !== undefined) plan.count = parseWholeNumber('--count', values.count);
  if (values.rounds !== undefined) plan.rounds = parseWholeNumber('--rounds', values.rounds);
  return {
    plan,
    selectedContenders:
      values.only === undefined ? contenders : values.only.split(',').map(findContender),
    isComplete:
      [values.only, values.count, values.rounds].every((value) => value === undefined) &&
      !values.quick,
  };
}

function findContender(name: string): Contender {
  const contender = contenders.find((contender) => contender.name === name);
  if (contender) return contender;
  const names = contenders.map((contender) => contender.name).join(', ');
  throw new Error(`--only: got ${JSON.stringify(name)}, expected one of ${names}.`);
}

function parseWholeNumber(option: string, text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`${option}: got ${JSON.stringify(text)}, expected a whole number above 0.`);
}
