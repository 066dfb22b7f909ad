/**
 * `npm run build`: builds everything into the `dist` folders. With `--stale`, only the parts whose
 * sources are newer than what was built from them.
 */
import { buildParts } from './lib/build-parts.mjs';
import { isStale } from './lib/is-stale.mjs';
import { runSteps } from './lib/run-steps.mjs';

const parts = process.argv.includes('--stale') ? buildParts.filter(isStale) : buildParts;
if (parts.length > 0) console.log(`Building ${parts.map(({ name }) => name).join(', ')} …`);
// Not at once: the game and the service are built from what the SDK is built from, and memory is dear.
const { failed } = await runSteps(parts);
process.exitCode = failed > 0 ? 1 : 0;
