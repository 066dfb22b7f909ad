/**
 * `npm run check`: runs all static checks, or only those that the arguments name: `npm run check -- lint types`.
 * `--full` adds the slow ones of `npm run test:full`. Requires a build.
 */
import { checks } from './lib/checks.mjs';
import { runSteps } from './lib/run-steps.mjs';

const args = process.argv.slice(2);
const all = checks({ full: args.includes('--full') });
const wanted = args.filter((argument) => argument !== '--full');
const unknown = wanted.filter((name) => !all.some((check) => check.name === name));
if (unknown.length > 0) {
  const names = all.map(({ name }) => name).join(', ');
  console.error(`Unknown check: ${unknown.join(', ')}. The checks are ${names}.`);
  process.exit(1);
}
const { failed } = await runSteps(
  all.filter(({ name }) => wanted.length === 0 || wanted.includes(name)),
  { concurrency: 2 },
);
process.exitCode = failed > 0 ? 1 : 0;
