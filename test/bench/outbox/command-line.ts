import { parseArgs } from 'node:util';
import { contenders, type ContenderInfo } from './contenders.ts';
import { fullPlan, quickContenders, quickPlan, type Plan } from './plan.ts';

/** The parsed command line. */
export interface CommandLine {
  plan: Plan;
  selectedContenders: ContenderInfo[];
  /** Whether the run measures everything. An incomplete run must not replace the published results. */
  isComplete: boolean;
}

export const help = `npm run bench:outbox [-- options]

Compares the outbox with other event queues in the same Chromium on this machine. Writes a table, plots and
all figures as JSON. The exit code does not depend on timings: it is 0 unless the benchmark fails.

  --only <names>   contenders, separated by commas: ${contenders.map(({ name }) => name).join(', ')}
                   ("raw" stands for raw-group)
  --quick          fewer queue lengths, events and kills: at most 3 minutes instead of 25
  --help           this text

A complete run replaces docs/benchmarks/outbox. Other runs write to .cache/bench-outbox.
Environment: CHROMIUM_PATH is the path of the browser. Default: an installed Chromium.`;

/** Parses the arguments. @throws Error if they are invalid. The message lists the expected values. */
export function readCommandLine(args: string[]): CommandLine | 'help' {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const names = values.only?.split(',') ?? (values.quick ? quickContenders : undefined);
  return {
    plan: values.quick ? quickPlan : fullPlan,
    selectedContenders: names === undefined ? contenders : names.map(findContender),
    isComplete: names === undefined && !values.quick,
  };
}

function findContender(name: string): ContenderInfo {
  const fullName = name === 'raw' ? 'raw-group' : name;
  const contender = contenders.find((contender) => contender.name === fullName);
  if (contender) return contender;
  const names = contenders.map((contender) => contender.name).join(', ');
  throw new Error(`--only: got ${JSON.stringify(name)}, expected one of ${names}.`);
}
