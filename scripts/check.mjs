/**
 * `npm run check` runs all static checks. `npm run check -- lint types` runs only those two. `--full` adds the slow checks
 * that `npm run test:full` runs. Requires a build.
 */
import { checks } from './lib/checks.mjs';
import { runSteps } from './lib/run-steps.mjs';

const args = process.argv.slice(2);
const allChecks = checks({ full: args.includes('--full') });
const selectedNames = args.filter((argument) => argument !== '--full');
const unknownNames = selectedNames.filter(
  (name) => !allChecks.some((check) => check.name === name),
);
if (unknownNames.length > 0) {
  const names = allChecks.map(({ name }) => name).join(', ');
  console.error(`Unknown check: ${unknownNames.join(', ')}. Use one or more of ${names}.`);
  process.exit(1);
}
const { failed } = await runSteps(
  allChecks.filter(({ name }) => selectedNames.length === 0 || selectedNames.includes(name)),
  { concurrency: 2 },
);
process.exitCode = failed > 0 ? 1 : 0;
