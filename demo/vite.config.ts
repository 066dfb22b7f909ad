import { join } from 'node:path';
import { defineConfig } from 'vite';
import { sdkSources } from './sdk-sources.ts';

export default defineConfig({
  root: import.meta.dirname,
  resolve: { alias: sdkSources },
  publicDir: false,
  build: {
    target: 'es2022',
    outDir: join(import.meta.dirname, 'dist/game'),
    emptyOutDir: true,
    // Phaser alone is larger than the size at which Vite warns.
    chunkSizeWarningLimit: 2_000,
  },
  // For `vite -c demo/vite.config.ts`: the rest comes from a running game server.
  server: { proxy: { '/config.json': 'http://127.0.0.1:4320' } },
});
