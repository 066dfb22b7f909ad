/**
 * The size-limit configuration. It bundles the SDK first, because only a bundler knows which chunks a game loads
 * together. As in a game, the bundle is minified and includes dependencies. Sizes are measured after gzip compression.
 * A later chunk's size excludes code that is already loaded.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { root } from './lib/run.mjs';

const core = `export { createAds } from './dist/index.js'`;

/** The parts of the SDK. `chunk` is loaded after `code`, when it is needed. `limit` is in gzipped bytes. */
const parts = [
  { name: 'everything that an ad needs, in one file', code: core, limit: 41_700 },
  { name: 'one language other than English', code: core, chunk: 'uk', limit: 1_000 },
  { name: 'reading the page’s consent', code: core, chunk: 'page-consent', limit: 2_500 },
  { name: 'banners', code: core, chunk: 'show-banner', limit: 1_500 },
  { name: 'the wallet', code: core, chunk: 'open-wallet', limit: 4_300 },
  { name: 'gamepads', code: core, chunk: 'gamepad', limit: 1_000 },
  { name: 'portals, without an adapter', code: core, chunk: 'connect-portal', limit: 4_300 },
  { name: 'the largest adapter for a portal', code: core, chunk: 'ad-break', limit: 1_500 },
  { name: 'debug panel and log', code: core, chunk: 'debug-tools', limit: 3_000 },
  {
    name: 'all of it with the Phaser plugin',
    code: `export { TruewardPlugin } from './dist/phaser.js'`,
    limit: 44_700,
  },
  {
    name: 'all of it with the ad placement',
    code: `${core}; export { createAdPlacement, installAdsbygoogle } from './dist/ad-placement.js'`,
    limit: 44_200,
  },
  // Less than 1 kB more than without a driver.
  {
    name: 'all of it with the PixiJS driver',
    code: `${core}; export { pixiDriver } from './dist/pixi.js'`,
    limit: 42_300,
  },
  {
    name: 'all of it with the Babylon.js driver',
    code: `${core}; export { babylonDriver } from './dist/babylon.js'`,
    limit: 42_250,
  },
  {
    name: 'all of it with the driver for web exports',
    code: `${core}; export { webExportDriver } from './dist/web-export.js'`,
    limit: 42_600,
  },
  { name: 'server', code: `export { verifyWebhook } from './dist/server.js'`, limit: 2_500 },
];

/** @typedef {import('vite').Rollup.OutputChunk} Chunk */

const folder = join(root, 'node_modules', '.cache', 'size');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

/** @type {Map<string, Chunk[]>} */
const bundles = new Map();
for (const code of new Set(parts.map((part) => part.code))) bundles.set(code, await bundle(code));

export default [
  ...parts.map(({ name, code, chunk, limit }, index) => {
    const path = join(folder, `part-${index}.js`);
    const chunks = findChunks(bundles.get(code) ?? [], chunk);
    // Writes a single file, because every bundler splits the code into chunks differently.
    writeFileSync(path, chunks.map((loadedChunk) => loadedChunk.code).join(''));
    return { name, path, gzip: true, limit: `${limit} B` };
  }),
  {
    name: 'administration panel, until its first page is shown',
    path: findPanelFiles(),
    gzip: true,
    limit: '480000 B',
  },
];

/**
 * Bundles a game that consists only of this code.
 *
 * @param {string} code
 */
async function bundle(code) {
  const entry = join(folder, 'game.js');
  writeFileSync(entry, code.replaceAll('./dist', join(root, 'dist')));
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
  return files.filter((file) => file.type === 'chunk');
}

/**
 * Returns the initial chunks or, with a name, the chunk with this name and those of its imports that have not been
 * loaded by then.
 *
 * @param {Chunk[]} chunks
 * @param {string} [chunkName]
 */
function findChunks(chunks, chunkName) {
  const initialChunks = selectWithImports(chunks, ({ isEntry }) => isEntry);
  if (chunkName === undefined) return initialChunks;
  const laterChunks = selectWithImports(chunks, ({ name }) => name.startsWith(`${chunkName}-`));
  if (laterChunks.length === 0) throw new Error(`The SDK has no ${chunkName} chunk.`);
  return laterChunks.filter((chunk) => !initialChunks.includes(chunk));
}

/**
 * Returns the selected chunks and their static imports.
 *
 * @param {Chunk[]} chunks
 * @param {(chunk: Chunk) => boolean} isSelected
 */
function selectWithImports(chunks, isSelected) {
  const selectedChunks = new Set(chunks.filter(isSelected));
  for (const { imports } of selectedChunks)
    for (const chunk of chunks) if (imports.includes(chunk.fileName)) selectedChunks.add(chunk);
  return Array.from(selectedChunks);
}

/** Returns the files that the panel loads to show its first page: the entry point, the overview and the charts. */
function findPanelFiles() {
  const panel = join(root, 'service', 'dist', 'panel');
  /** @type {Record<string, { file: string, imports?: string[], css?: string[] }>} */
  const manifest = JSON.parse(readFileSync(join(panel, 'manifest.json'), 'utf8'));
  const keys = new Set(
    ['index.html', 'src/overview/overview.tsx', 'src/figures/plots.tsx'].map((name) => {
      const key = Object.keys(manifest).find((path) => path.endsWith(name));
      if (key === undefined) throw new Error(`The panel has no ${name}.`);
      return key;
    }),
  );
  for (const key of keys) for (const imported of manifest[key]?.imports ?? []) keys.add(imported);
  const files = Array.from(keys).flatMap((key) => {
    const { file = '', css = [] } = manifest[key] ?? {};
    return [file, ...css];
  });
  return ['index.html', ...files].map((file) => join(panel, file));
}
