/**
 * The SDK's build. By default, it builds the ES modules; with `--mode <name>`, it builds the script-tag bundle of that
 * name.
 */
import { join } from 'node:path';
import { defineConfig } from 'vite';
import { entryPoints } from './scripts/lib/public-api.mjs';

/** The script-tag bundles are built separately, because an IIFE build supports only one entry. */
const scriptTags: Record<string, string> = {
  trueward: 'src/script-tag/index.ts',
  'trueward-ad-placement': 'src/script-tag/ad-placement.ts',
  'trueward-cocos': 'src/script-tag/cocos.ts',
  'trueward-phaser': 'src/script-tag/phaser.ts',
  'trueward-web-export': 'src/script-tag/web-export.ts',
};

/** In a script-tag file, replaces the module that loads separate files. */
const loadIncludedPart = 'src/script-tag/load-part.ts';

export default defineConfig(({ mode }) => {
  const scriptTag = scriptTags[mode];
  return {
    resolve: {
      tsconfigPaths: true,
      alias:
        scriptTag === undefined
          ? []
          : [
              {
                find: /^.*\/load-part\.ts$/,
                replacement: join(import.meta.dirname, loadIncludedPart),
              },
            ],
    },
    publicDir: false,
    // Exports each translation only as a default export, without a named export for each string.
    json: { namedExports: false },
    build: {
      target: 'es2022',
      sourcemap: true,
      minify: scriptTag !== undefined,
      emptyOutDir: scriptTag === undefined,
      lib:
        scriptTag === undefined
          ? {
              entry: entryPoints,
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
      },
    },
  };
});
