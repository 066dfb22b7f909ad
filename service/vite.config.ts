import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

/** Builds the service for Node. Its own code is bundled into `dist`; npm packages are loaded from `node_modules`. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  resolve: { tsconfigPaths: true },
  publicDir: false,
  // The contract and the signing code are in this repository, so they are bundled.
  ssr: { noExternal: ['@trueward/protocol', 'trueward'] },
  build: {
    ssr: true,
    target: 'node20',
    outDir: 'dist',
    sourcemap: true,
    rolldownOptions: {
      input: {
        main: 'src/main.ts',
        'pglite-worker': 'src/store/pglite/worker.ts',
        'probe-worker': 'src/media/probe-worker.ts',
      },
      // Chunks are placed next to the entry files, because the worker's path is relative to the chunk that starts it.
      output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    },
  },
});
