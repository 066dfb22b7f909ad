/**
 * `npm run build` builds all parts. See `--help`. It doesn't use a task runner, because there are only a few parts and they
 * are built in sequence.
 */
import { buildParts, isStale } from './lib/build-parts.mjs';
import { readOptions } from './lib/read-options.mjs';
import { runSteps } from './lib/run-steps.mjs';

const { stale } = readOptions({
  name: 'build',
  about: `Builds all parts into their dist folders, one after another. Takes about a minute.

Parts: ${buildParts.map(({ name }) => name).join(', ')}.`,
  options: { stale: 'builds only the parts whose sources are newer than their output' },
});
const parts = stale ? buildParts.filter(isStale) : buildParts;
if (parts.length > 0) console.log(`Building ${parts.map(({ name }) => name).join(', ')} …`);
// Builds one part at a time, because small machines don't have enough memory for two builds.
const { failed } = await runSteps(parts);
process.exitCode = failed > 0 ? 1 : 0;
