/** `npm run check` runs the static checks. See `--help`. */
import { checks } from './lib/checks.mjs';
import { readOptions } from './lib/read-options.mjs';
import { runSteps } from './lib/run-steps.mjs';

const options = readOptions({
  name: 'check',
  about:
    'Runs the static checks, two at a time. Requires a build. All of them take about a minute.',
  options: {
    check: {
      type: 'name',
      names: checks({ full: false }).map(({ name }) => name),
      argument: true,
      several: true,
      help: 'the checks to run',
    },
    full: 'adds the slow checks that `npm run test:full` runs',
  },
});
const { failed } = await runSteps(
  checks(options).filter(({ name }) => options.check.includes(name)),
  { concurrency: 2 },
);
process.exitCode = failed > 0 ? 1 : 0;
