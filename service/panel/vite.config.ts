import { join } from 'node:path';
import { defineConfig } from 'vite';

/** Builds the administration panel, which the service serves at `/panel/`. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/panel/',
  publicDir: false,
  resolve: { tsconfigPaths: true },
  build: {
    target: 'es2022',
    outDir: join(import.meta.dirname, '../dist/panel'),
    emptyOutDir: true,
    manifest: 'manifest.json',
    // A polyfill would be a script for browsers that are older than the target.
    modulePreload: { polyfill: false },
    // react-admin with its parts is one chunk; `npm run check -- size` bounds what a page loads first.
    chunkSizeWarningLimit: 2_000,
    rolldownOptions: {
      // MUI marks its files for servers that render; nothing of that is here.
      checks: { moduleLevelDirective: false },
      input: {
        panel: join(import.meta.dirname, 'index.html'),
        preview: join(import.meta.dirname, 'preview.html'),
      },
    },
  },
});
