import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

/**
 * Writes compressed copies of each script, stylesheet and page (`<file>.br` and `<file>.gz`) for the service to send.
 */
const compressionPlugin: Plugin = {
  name: 'trueward-compressed',
  async writeBundle({ dir = '' }, bundle) {
    for (const name of Object.keys(bundle).filter((file) => /\.(js|css|html|svg)$/.test(file))) {
      const path = join(dir, name);
      const body = await readFile(path);
      const [brotli, gzipped] = await Promise.all([
        promisify(brotliCompress)(body),
        promisify(gzip)(body, { level: 9 }),
      ]);
      // Files that don't shrink are sent uncompressed.
      if (brotli.length < body.length) await writeFile(`${path}.br`, brotli);
      if (gzipped.length < body.length) await writeFile(`${path}.gz`, gzipped);
    }
  },
};

/** Builds the panel, which the service serves at `/panel/`. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/panel/',
  publicDir: false,
  plugins: [compressionPlugin],
  resolve: { tsconfigPaths: true },
  build: {
    target: 'es2022',
    outDir: join(import.meta.dirname, '../dist/panel'),
    emptyOutDir: true,
    manifest: 'manifest.json',
    // Only browsers older than the target need the polyfill.
    modulePreload: { polyfill: false },
    // react-admin is one chunk; `npm run check -- size` limits the initial load size.
    chunkSizeWarningLimit: 2_000,
    rolldownOptions: {
      // MUI's `use client` directives are for React Server Components, which the panel doesn't use.
      checks: { moduleLevelDirective: false },
      input: {
        panel: join(import.meta.dirname, 'index.html'),
        preview: join(import.meta.dirname, 'preview.html'),
      },
    },
  },
});
