import { readOptions } from '../../../scripts/lib/read-options.mjs';
import { contenders, type ContenderInfo } from './contenders.ts';
import { fullPlan, quickContenders, quickPlan, type Plan } from './plan.ts';

/** The parsed command line. */
export interface CommandLine {
  plan: Plan;
  selectedContenders: ContenderInfo[];
  /** Whether the run measures everything. An incomplete run must not replace the published results. */
  isComplete: boolean;
}

const { only, quick } = readOptions({
  name: 'bench:outbox',
  about: `Compares the outbox with other event queues in the same Chromium on this machine. Writes a table, plots and all
figures as JSON. The exit code does not depend on timings: it is 0 unless the benchmark fails. Takes 25 minutes.

A complete run replaces docs/benchmarks/outbox. Other runs write to .cache/bench-outbox.
Environment: CHROMIUM_PATH is the path of the browser. Default: an installed Chromium.`,
  options: {
    only: {
      type: 'name',
      names: contenders.map(({ name }) => name),
      several: true,
      help: 'contenders',
    },
    quick: `fewer queue lengths, events and kills, and unless you choose them, only ${quickContenders.join(', ')}: at most 3 minutes`,
  },
});
const isAll = only.length === contenders.length;
const names = quick && isAll ? quickContenders : only;

/** The parsed command line. */
export const commandLine: CommandLine = {
  plan: quick ? quickPlan : fullPlan,
  selectedContenders: contenders.filter(({ name }) => names.includes(name)),
  isComplete: isAll && !quick,
};
