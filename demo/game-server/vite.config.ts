import { join } from 'node:path';
import { defineConfig } from 'vite';
import { sdkSources } from '../sdk-sources.ts';

export default defineConfig({
  root: import.meta.dirname,
  resolve: { alias: sdkSources },
  publicDir: false,
  build: {
    ssr: 'main.ts',
    target: 'node20',
    outDir: join(import.meta.dirname, '../dist/server'),
    emptyOutDir: true,
    sourcemap: true,
  },
});
