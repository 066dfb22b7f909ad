/**
 * `npm run build` builds all parts into their `dist` folders. With `--stale`, it builds only the parts whose sources are
 * newer than their output. It doesn't use a task runner, because there are only a few parts and they are built in sequence.
 */
import { buildParts, isStale } from './lib/build-parts.mjs';
import { runSteps } from './lib/run-steps.mjs';

const parts = process.argv.includes('--stale') ? buildParts.filter(isStale) : buildParts;
if (parts.length > 0) console.log(`Building ${parts.map(({ name }) => name).join(', ')} …`);
// Builds one part at a time, because small machines don't have enough memory for two builds.
const { failed } = await runSteps(parts);
process.exitCode = failed > 0 ? 1 : 0;
