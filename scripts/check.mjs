/**
 * `npm run check`: everything that can be said about the sources without running them. Names of
 * checks as arguments run only these: `npm run check -- lint types`. Needs what `npm run build` makes.
 */
import { checks } from './lib/checks.mjs';
import { runSteps } from './lib/run-steps.mjs';

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !checks.some((check) => check.name === name));
if (unknown.length > 0) {
  console.error(
    `Unknown: ${unknown.join(', ')}. There is: ${checks.map(({ name }) => name).join(', ')}.`,
  );
  process.exit(1);
}
const { failed } = await runSteps(
  checks.filter(({ name }) => wanted.length === 0 || wanted.includes(name)),
  { atOnce: 2 },
);
process.exitCode = failed > 0 ? 1 : 0;
