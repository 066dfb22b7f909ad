import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type Plugin } from 'vite';
import { sdkSources } from './sdk-sources.ts';

const resolvePath = (path: string) => join(import.meta.dirname, path);

/** Copies the examples that don't need a build, along with the published script tag. */
const plainExamples: Plugin = {
  name: 'plain-examples',
  generateBundle() {
    const files = ['index.html', 'script-tag.html', 'style.css'].map((name) => `examples/${name}`);
    for (const file of [...files, '../dist/trueward.js']) {
      const fileName = file.replace('../dist', 'examples');
      this.emitFile({ type: 'asset', fileName, source: readFileSync(resolvePath(file)) });
    }
  },
};

export default defineConfig({
  root: import.meta.dirname,
  resolve: { alias: sdkSources },
  publicDir: false,
  plugins: [plainExamples],
  build: {
    target: 'es2022',
    outDir: resolvePath('dist/game'),
    emptyOutDir: true,
    // Phaser alone exceeds Vite's default chunk size warning limit.
    chunkSizeWarningLimit: 2_000,
    rolldownOptions: { input: [resolvePath('index.html'), resolvePath('examples/canvas.html')] },
  },
  // `vite -c demo/vite.config.ts` proxies this path to the game server, which must already be running.
  server: { proxy: { '/config.json': 'http://127.0.0.1:4320' } },
});
