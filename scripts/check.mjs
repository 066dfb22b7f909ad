/**
 * `npm run check`: everything that can be said about the sources without running them. Names of
 * checks as arguments run only these: `npm run check -- lint types`. `--full` adds the slow ones
 * that otherwise only `npm run test:full` runs. Needs what `npm run build` makes.
 */
import { checks } from './lib/checks.mjs';
import { runSteps } from './lib/run-steps.mjs';

const given = process.argv.slice(2);
const all = checks({ full: given.includes('--full') });
const wanted = given.filter((argument) => argument !== '--full');
const unknown = wanted.filter((name) => !all.some((check) => check.name === name));
if (unknown.length > 0) {
  const names = all.map(({ name }) => name).join(', ');
  console.error(`Unknown check: ${unknown.join(', ')}. The checks are ${names}.`);
  process.exit(1);
}
const { failed } = await runSteps(
  all.filter(({ name }) => wanted.length === 0 || wanted.includes(name)),
  { atOnce: 2 },
);
process.exitCode = failed > 0 ? 1 : 0;
