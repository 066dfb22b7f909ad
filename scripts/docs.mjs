/** `npm run docs` builds the documentation site. See `--help`. */
import { runSteps } from './lib/run-steps.mjs';
import { buildStale, tool } from './lib/run.mjs';
import { readOptions } from './lib/read-options.mjs';

readOptions({
  name: 'docs',
  about: `Builds outdated parts. Then writes docs/reference, the pages that are generated from the code, fails if a link
between the project’s pages is broken, and builds the site into docs/.vitepress/dist.`,
});
await buildStale();
const { failed } = await runSteps([
  {
    name: 'the documentation site',
    commands: [
      [...tool('tsx'), 'docs/generate/main.ts'],
      [...tool('tsx'), 'docs/generate/check-links.ts'],
      [...tool('vitepress'), 'build', 'docs'],
    ],
  },
]);
if (failed > 0) process.exitCode = 1;
