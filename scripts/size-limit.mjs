/**
 * The size-limit configuration. It bundles the SDK first, because only a bundler knows which chunks a game loads
 * together. As in a game, the bundle is minified and includes dependencies. Sizes are measured after gzip compression.
 * A chunk's size excludes code that is already loaded with the core or the first request.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { root } from './lib/run.mjs';

const core = `export { createAds } from './dist/index.js'`;
const requests = 'requests';

/** The parts of the SDK. `chunk` is loaded after `code`. `limit` is in gzipped bytes. */
const parts = [
  { name: 'core', code: core, limit: 13_000 },
  { name: 'requests, prefetched', code: core, chunk: requests, limit: 4_000 },
  {
    name: 'ad break, loaded with the first request',
    code: core,
    chunk: 'show-ad',
    limit: 8_500,
  },
  { name: 'event delivery, prefetched', code: core, chunk: 'drain', limit: 3_000 },
  { name: 'reward delivery, prefetched', code: core, chunk: 'fulfillment', limit: 2_000 },
  {
    name: 'adoption of data from an earlier key, when needed',
    code: core,
    chunk: 'adopt-storage',
    limit: 2_500,
  },
  { name: 'video renderer', code: core, chunk: 'video', limit: 2_500 },
  { name: 'image renderer', code: core, chunk: 'image', limit: 2_500 },
  { name: 'HTML renderer', code: core, chunk: 'html', limit: 2_500 },
  { name: 'controls for external ads', code: core, chunk: 'external-ad', limit: 1_000 },
  { name: 'banner', code: core, chunk: 'show-banner', limit: 2_500 },
  { name: 'one language', code: core, chunk: 'uk', limit: 1_000 },
  {
    name: 'core and Phaser plugin',
    code: `export { TruewardPlugin } from './dist/phaser.js'`,
    limit: 15_000,
  },
  {
    name: 'core and ad placement',
    code: `${core}; export { createAdPlacement, installAdsbygoogle } from './dist/ad-placement.js'`,
    limit: 14_500,
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
    limit: '500000 B',
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
 * Returns the chunk with this name and its imports, except chunks that are already loaded by then. Without a name, returns
 * the initial chunks.
 *
 * @param {Chunk[]} chunks
 * @param {string} [chunkName]
 */
function findChunks(chunks, chunkName) {
  const isNamed = (/** @type {Chunk} */ chunk, /** @type {string} */ name) =>
    chunk.name.startsWith(`${name}-`);
  const initialChunks = selectWithImports(chunks, ({ isEntry }) => isEntry);
  if (chunkName === undefined) return initialChunks;
  const loadedChunks =
    chunkName === requests
      ? initialChunks
      : selectWithImports(chunks, (chunk) => chunk.isEntry || isNamed(chunk, requests));
  const laterChunks = selectWithImports(chunks, (chunk) => isNamed(chunk, chunkName));
  if (laterChunks.length === 0) throw new Error(`The SDK has no ${chunkName} chunk.`);
  return laterChunks.filter((chunk) => !loadedChunks.includes(chunk));
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
    ['index.html', 'src/overview/overview.tsx', 'src/overview/plots.tsx'].map((name) => {
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
