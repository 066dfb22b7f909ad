/**
 * Says how many bytes a game downloads for each use of the SDK, and fails over the limit. Measured
 * as a game would ship it: bundled with its dependencies, minified, compressed with gzip at level 9.
 * What is imported only when it is needed (renderers) is not in the figure of the core.
 */
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { root } from './lib/run.mjs';

const uses = [
  { name: 'core', code: `export { createAds } from './dist/index.js'`, limit: 12_000 },
  {
    name: 'core and Phaser plugin',
    code: `export { TruewardPlugin } from './dist/phaser.js'`,
    limit: 14_000,
  },
  { name: 'server', code: `export { verifyWebhook } from './dist/server.js'`, limit: 2_500 },
];

/** @param {string} code */
async function measure(code) {
  const entry = '\0use.js';
  const output = await build({
    root,
    configFile: false,
    logLevel: 'error',
    plugins: [
      {
        name: 'use',
        resolveId: (id) => (id === entry ? entry : undefined),
        load: (id) => (id === entry ? code.replace('./dist', join(root, 'dist')) : undefined),
      },
    ],
    build: {
      target: 'es2022',
      write: false,
      minify: true,
      lib: { entry, formats: ['es'] },
      rolldownOptions: { external: ['phaser'], output: { minify: true } },
    },
  });
  const chunks = [output].flat().flatMap((result) => ('output' in result ? result.output : []));
  const first = chunks.filter((chunk) => chunk.type === 'chunk' && !chunk.isDynamicEntry);
  const text = first.map((chunk) => ('code' in chunk ? chunk.code : '')).join('');
  return gzipSync(text, { level: 9 }).length;
}

for (const { name, code, limit } of uses) {
  const bytes = await measure(code);
  console.log(`${name}: ${bytes} bytes of ${limit}`);
  if (bytes > limit) {
    console.error(`${name} is ${bytes - limit} bytes over its limit.`);
    process.exitCode = 1;
  }
}
