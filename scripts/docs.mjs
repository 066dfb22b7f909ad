/** `npm run docs` builds the documentation site. See `--help`. */
import { buildEnv } from './lib/build-parts.mjs';
import { buildStale, run, tool } from './lib/run.mjs';
import { readOptions } from './lib/read-options.mjs';

readOptions({
  name: 'docs',
  about: `Builds outdated parts. Then writes docs/reference, the pages that are generated from the code, fails if a link
between the project’s pages is broken, and builds the site into docs/.vitepress/dist.`,
});
await buildStale();
const steps = [
  [...tool('tsx'), 'docs/generate/main.ts'],
  [...tool('tsx'), 'docs/generate/check-links.ts'],
  [...tool('vitepress'), 'build', 'docs'],
];
for (const step of steps) {
  const { code } = await run(step, { env: buildEnv, show: true });
  if (code === 0) continue;
  process.exitCode = 1;
  break;
}
