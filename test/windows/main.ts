/**
 * `npm run test:windows`: runs what developers run, in a folder with spaces and accents in its path: on Windows and macOS
 * with this Node, and on Linux with Windows' Node in Wine.
 */
import { readOptions } from '../../scripts/lib/read-options.mjs';
import { choosePlatform } from './platform.ts';
import { copyRepository } from './copy.ts';
import { steps } from './steps.ts';

readOptions({
  name: 'test:windows',
  about: `Runs what developers run, in a folder with spaces and accents in its path: on Windows and macOS with this Node, and
on Linux with Windows' Node in Wine. See docs/systems.md.`,
});
const platform = choosePlatform();
console.log(`${platform.name}, in ${platform.toNative(platform.folder)}`);
let passed = 0;
let failed = 0;
let notRun = 0;
const beganAt = performance.now();
try {
  const repository = `${platform.folder}/trueward`;
  copyRepository(repository);
  for (const [name, step] of steps(platform, repository)) {
    // Each step needs the ones before it.
    if (failed > 0) {
      notRun += 1;
      console.log(`- ${name}: not run`);
      continue;
    }
    const startedAt = performance.now();
    const seconds = () => `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`;
    try {
      const detail = await step();
      passed += 1;
      console.log(`✓ ${name}${detail === undefined ? '' : `: ${detail}`} (${seconds()})`);
    } catch (error) {
      failed += 1;
      console.log(
        `✗ ${name} (${seconds()})\n${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
} finally {
  await platform.remove();
}
const minutes = ((performance.now() - beganAt) / 60_000).toFixed(1);
console.log(
  `\n${passed} passed, ${failed} failed, ${notRun} not run, on ${platform.name} (${minutes} min)`,
);
process.exit(failed > 0 ? 1 : 0);
