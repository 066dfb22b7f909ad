/**
 * `npm run build`: builds all parts into their `dist` folders; with `--stale`, only the parts whose sources are newer than
 * their output. Uses no task runner, because there are only a few parts, which are built in sequence.
 */
import { buildParts, isStale } from './lib/build-parts.mjs';
import { runSteps } from './lib/run-steps.mjs';

const parts = process.argv.includes('--stale') ? buildParts.filter(isStale) : buildParts;
if (parts.length > 0) console.log(`Building ${parts.map(({ name }) => name).join(', ')} …`);
// Built one at a time, because a small machine has too little memory for more.
const { failed } = await runSteps(parts);
process.exitCode = failed > 0 ? 1 : 0;
