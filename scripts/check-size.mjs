/**
 * Says how many bytes a game downloads for each use of the SDK, and fails over the limit. Measured
 * as a game would ship it: bundled with its dependencies, minified, compressed with gzip at level 9.
 * What is imported only when it is needed is not in the figure of the core: each such part is a use of
 * its own, `lazy`, by the name of the chunk; what the core and the first request have loaded already is
 * not counted again.
 * The table in README.md has to say the same; with `--write`, it is written.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { format } from 'prettier';
import { build } from 'vite';
import { panelSize } from './lib/panel-size.mjs';
import { root } from './lib/run.mjs';

const core = `export { createAds } from './dist/index.js'`;
const requests = 'requests';
const uses = [
  { name: 'core', code: core, limit: 13_000 },
  { name: 'requests, prefetched', code: core, lazy: requests, limit: 4_000 },
  { name: 'ad break, loaded with the first request', code: core, lazy: 'show-ad', limit: 8_500 },
  {
    name: 'event delivery, prefetched',
    code: core,
    lazy: 'drain',
    limit: 3_000,
  },
  {
    name: 'reward delivery, prefetched',
    code: core,
    lazy: 'fulfillment',
    limit: 2_000,
  },
  {
    name: 'storage of an earlier key, loaded if there is any',
    code: core,
    lazy: 'adopt-storage',
    limit: 2_500,
  },
  { name: 'video renderer', code: core, lazy: 'video', limit: 2_500 },
  { name: 'image renderer', code: core, lazy: 'image', limit: 2_500 },
  { name: 'HTML renderer', code: core, lazy: 'html', limit: 2_500 },
  { name: 'banner', code: core, lazy: 'show-banner', limit: 2_500 },
  { name: 'one language', code: core, lazy: 'uk', limit: 1_000 },
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

const folder = mkdtempSync(join(tmpdir(), 'trueward-size-'));
try {
  /** @type {string[]} */
  const rows = [];
  for (const use of uses) {
    const bytes = await measure(use);
    report(use, bytes);
    rows.push(`| ${use.name} | ${(bytes / 1000).toFixed(1)} kB |`);
  }
  await compareReadme(rows);
} finally {
  rmSync(folder, { recursive: true });
}
report({ name: 'administration panel, until its first page stands', limit: 500_000 }, panelSize());

/** @param {{ code: string, lazy?: string }} use */
async function measure({ code, lazy }) {
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
  const chunks = files.flatMap((file) => (file.type === 'chunk' ? [file] : []));
  const atStart = withImports(chunks, ({ isEntry }) => isEntry);
  const before =
    lazy === requests
      ? atStart
      : withImports(chunks, ({ isEntry, name }) => isEntry || name.startsWith(`${requests}-`));
  const later = withImports(chunks, ({ name }) => name.startsWith(`${lazy}-`));
  const wanted = lazy === undefined ? atStart : later.filter((chunk) => !before.includes(chunk));
  if (wanted.length === 0) throw new Error(`There is no chunk ${lazy}.`);
  return gzipSync(wanted.map(({ code: text }) => text).join(''), { level: 9 }).length;
}

/**
 * Chunks, and what they import statically.
 *
 * @param {import('vite').Rollup.OutputChunk[]} chunks
 * @param {(chunk: import('vite').Rollup.OutputChunk) => boolean} isWanted
 */
function withImports(chunks, isWanted) {
  const wanted = new Set(chunks.filter(isWanted));
  for (const { imports } of wanted) {
    for (const chunk of chunks) if (imports.includes(chunk.fileName)) wanted.add(chunk);
  }
  return [...wanted];
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

/** @param {string[]} rows */
async function compareReadme(rows) {
  const target = join(root, 'README.md');
  const readme = readFileSync(target, 'utf8');
  const block = /(?<=<!-- sizes -->\n)[^]*(?=<!-- \/sizes -->)/;
  const table = ['| Part | Size |', '| --- | ---: |', ...rows].join('\n');
  const written = readme.replace(block, () => `\n${table}\n\n`);
  const text = await format(written, { parser: 'markdown', singleQuote: true, printWidth: 100 });
  if (process.argv.includes('--write')) writeFileSync(target, text);
  else if (text !== readme || !block.test(readme)) {
    console.error(
      'The sizes in README.md are not those of what is built: run `npm run build && npm run sizes`.',
    );
    process.exitCode = 1;
  }
}
