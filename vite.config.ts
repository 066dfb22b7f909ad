/**
 * The SDK's build. By default, it builds the ES modules; with `--mode <name>`, it builds the script-tag bundle of that
 * name, or the slim entry point for Cocos Creator, each in one file.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vite';
import { entryPoints } from './scripts/lib/public-api.mjs';

/** The script-tag bundles are built separately, because an IIFE build supports only one entry. */
const scriptTags: Record<string, string> = {
  trueward: 'src/script-tag/index.ts',
  'trueward-ad-placement': 'src/script-tag/ad-placement.ts',
  'trueward-cocos': 'src/script-tag/cocos.ts',
  'trueward-phaser': 'src/script-tag/phaser.ts',
  'trueward-portals': 'src/script-tag/portals.ts',
  'trueward-web-export': 'src/script-tag/web-export.ts',
};
/**
 * These load the code for portals from `trueward-portals.js`, which is built before. The others contain it, because engines
 * load them by code, so that they don't know their own folder.
 */
const loadsPortals = ['trueward', 'trueward-ad-placement', 'trueward-web-export'];

/** A Cocos Creator build puts every part into one file, also those that most games never load. This one has fewer. */
const slim = 'cocos-slim';

const replaceModule = (find: RegExp, replacement: string) => ({
  find,
  replacement: join(import.meta.dirname, 'src', replacement),
});
/** In a build of one file, replaces the module that loads separate files. */
const includeParts = replaceModule(/^.*\/load-part\.ts$/, 'script-tag/load-part.ts');
const loadPortals = replaceModule(/^.*\/portal-parts\.ts$/, 'script-tag/portal-parts.ts');
const leaveOut = [
  replaceModule(/^.*\/languages\/\w+\.json$/, 'creative/languages/en.json'),
  replaceModule(/^.*\/open-panel\.ts$/, 'cocos/no-panel.ts'),
];

/** Returns the integrity hash of the file for portals, as code. */
function computePortalsIntegrity(): string {
  const file = readFileSync(join(import.meta.dirname, 'dist', 'trueward-portals.js'));
  return JSON.stringify(`sha384-${createHash('sha384').update(file).digest('base64')}`);
}

export default defineConfig(({ mode }) => {
  const scriptTag = scriptTags[mode];
  const isSlim = mode === slim;
  const isOneFile = isSlim || scriptTag !== undefined;
  return {
    resolve: {
      tsconfigPaths: true,
      alias: [
        ...(isOneFile ? [loadsPortals.includes(mode) ? loadPortals : includeParts] : []),
        ...(isSlim ? leaveOut : []),
      ],
    },
    define: loadsPortals.includes(mode) ? { portalsIntegrity: computePortalsIntegrity() } : {},
    publicDir: false,
    // Exports each translation only as a default export, without a named export for each string.
    json: { namedExports: false },
    build: {
      target: 'es2022',
      sourcemap: true,
      minify: scriptTag !== undefined,
      emptyOutDir: !isOneFile,
      lib:
        scriptTag === undefined
          ? {
              entry: isSlim ? { [slim]: entryPoints.cocos } : entryPoints,
              formats: ['es'],
            }
          : {
              entry: scriptTag,
              formats: ['iife'],
              name: 'TruewardBundle',
              fileName: () => `${mode}.js`,
            },
      rolldownOptions: {
        external: scriptTag === undefined ? ['eventemitter3', 'idb-keyval', 'phaser'] : ['phaser'],
        ...(isSlim && { output: { codeSplitting: false } }),
      },
    },
  };
});
