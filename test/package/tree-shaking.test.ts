import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Metafile } from 'esbuild';
import { expect } from 'vitest';
import type { InstalledPackage } from './installed-package.ts';
import { it } from './worker.ts';

let installedPackage: InstalledPackage;

it.beforeAll(({ installedPackage: sharedPackage }) => {
  installedPackage = sharedPackage;
});

/**
 * The name that a game imports, its entry point, and the maximum gzipped size of the initial chunks. esbuild keeps about
 * 9 kB of code that the core shares with chunks loaded by `import()`, even if it removes the `import()` call itself.
 */
const uses = [
  ['createAds', 'trueward', 43_100],
  ['noEngine', 'trueward', 10_700],
  ['OptionError', 'trueward', 10_400],
  ['TruewardPlugin', 'trueward/phaser', 46_200],
  ['phaserDriver', 'trueward/phaser', 11_200],
  ['createEngineDriver', 'trueward', 10_900],
  ['pixiDriver', 'trueward/pixi', 7_000],
  ['babylonDriver', 'trueward/babylon', 7_000],
  ['webExportDriver', 'trueward/web-export', 8_000],
  ['createCocosAds', 'trueward/cocos', 44_000],
  ['createAdPlacement', 'trueward/ad-placement', 3_600],
  ['startAdPlacement', 'trueward/ad-placement', 3_600],
  ['verifyWebhook', 'trueward/server', 2_400],
  ['signWebhook', 'trueward/server', 1_500],
  ['verifyReceipt', 'trueward/server', 2_300],
  ['signUserToken', 'trueward/server', 900],
] as const;

it.each(uses)(
  'a game that imports only %s from %s bundles nothing else',
  async (name, from, limit) => {
    const bytes = await measureBytes(
      `import { ${name} } from '${from}'; globalThis.used = ${name};`,
    );
    expect(bytes).toBeLessThan(limit);
    // A smaller bundle cannot contain the imported code.
    expect(bytes).toBeGreaterThan(300);
  },
);

it('an unused import adds nothing', async () => {
  const entries = [...new Set(uses.map(([, from]) => from))];
  const code = entries
    .map((from, index) => `import * as unused${index} from '${from}';`)
    .join('\n');
  expect(await measureBytes(code)).toBeLessThan(30);
});

it('in a build of one file, the slim entry point for Cocos Creator saves the translations and the panel', async () => {
  const measure = async (entry: string) => {
    const use = `import { createCocosAds } from 'trueward/${entry}'; globalThis.used = createCocosAds;`;
    const { outputFiles } = await bundle(use, { splitting: false });
    const code = outputFiles.map(({ text }) => text).join('');
    return { code, bytes: gzipSync(code, { level: 9 }).length };
  };
  const [whole, slim] = await Promise.all([measure('cocos'), measure('cocos-slim')]);
  for (const [text, isSaved] of [
    ['Werbung', true],
    ['Trueward \\xB7', true],
    ['Advertisement', false],
  ] as const)
    expect([whole.code.includes(text), slim.code.includes(text)], text).toEqual([true, !isSaved]);
  expect(slim.bytes).toBeLessThan(59_600);
  expect(whole.bytes - slim.bytes).toBeGreaterThan(5_000);
  const guide = readFileSync(new URL('../../docs/cocos.md', import.meta.url), 'utf8');
  const [, ...figures] = /into its script.*?: ([\d.]+) kB .*?: ([\d.]+) kB\./.exec(guide) ?? [];
  for (const [index, { bytes }] of [whole, slim].entries())
    expect(Math.abs(Number(figures[index]) - bytes / 1_000)).toBeLessThan(0.5);
});

/** Bundles a game that consists only of this code. */
const bundle = (contents: string, { splitting }: { splitting: boolean }) =>
  build({
    stdin: { contents, resolveDir: installedPackage.project },
    bundle: true,
    format: 'esm',
    minify: true,
    target: 'es2022',
    write: false,
    metafile: true,
    outdir: installedPackage.project,
    external: ['phaser'],
    logLevel: 'error',
    splitting,
  });

/** Measures the minified and gzipped size of the initial chunks, in bytes. */
async function measureBytes(contents: string): Promise<number> {
  const { metafile, outputFiles } = await bundle(contents, { splitting: true });
  const initialNames = new Set(findInitialChunks(metafile.outputs).map((path) => basename(path)));
  const initialFiles = outputFiles.filter(({ path }) => initialNames.has(basename(path)));
  return gzipSync(initialFiles.map(({ text }) => text).join(''), { level: 9 }).length;
}

function findInitialChunks(outputs: Metafile['outputs']): string[] {
  const modules = new Set(
    Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === '<stdin>'),
  );
  for (const path of modules) {
    for (const { kind, path: imported } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement') modules.add(imported);
  }
  return [...modules];
}
