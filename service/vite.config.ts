import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

/** Builds the service for Node: its own code in `dist`, packages from `node_modules`. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  resolve: { tsconfigPaths: true },
  publicDir: false,
  // The contract and the signing code are sources of this repository, not packages.
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
      // Chunks lie beside the entries: the worker is found by its address relative to its starter.
      output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    },
  },
});
