/**
 * Says how many bytes a game downloads for each use of the SDK, and fails over the limit. Measured
 * as a game would ship it: bundled with its dependencies, minified, compressed with gzip at level 9.
 * What is imported only when it is needed (renderers) is not in the figure of the core.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
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

const folder = mkdtempSync(join(tmpdir(), 'trueward-size-'));
try {
  for (const use of uses) report(use, await measure(use.code));
} finally {
  rmSync(folder, { recursive: true });
}

/** @param {string} code */
async function measure(code) {
  const entry = join(folder, 'game.js');
  writeFileSync(entry, code.replace('./dist', join(root, 'dist')));
  const output = await build({
    root: folder,
    configFile: false,
    logLevel: 'error',
    build: {
      target: 'es2022',
      write: false,
      lib: { entry, formats: ['es'] },
      rolldownOptions: { external: ['phaser'], output: { minify: true } },
    },
  });
  const files = [output].flat().flatMap((result) => ('output' in result ? result.output : []));
  return gzipSync(textAtStart(files), { level: 9 }).length;
}

/**
 * What is loaded before anything is shown: the entry and what it imports statically.
 *
 * @param {(import('vite').Rollup.OutputChunk | import('vite').Rollup.OutputAsset)[]} files
 * @returns {string}
 */
function textAtStart(files) {
  const chunks = files.flatMap((file) => (file.type === 'chunk' ? [file] : []));
  const wanted = new Set(chunks.filter(({ isEntry }) => isEntry).map(({ fileName }) => fileName));
  for (const name of wanted) {
    for (const imported of chunks.find(({ fileName }) => fileName === name)?.imports ?? [])
      wanted.add(imported);
  }
  return chunks
    .filter(({ fileName }) => wanted.has(fileName))
    .map(({ code }) => code)
    .join('');
}

/**
 * @param {{ name: string, limit: number }} use
 * @param {number} bytes
 */
function report({ name, limit }, bytes) {
  console.log(`${name}: ${bytes} bytes of ${limit}`);
  if (bytes <= limit) return;
  console.error(`${name} is ${bytes - limit} bytes over its limit.`);
  process.exitCode = 1;
}
