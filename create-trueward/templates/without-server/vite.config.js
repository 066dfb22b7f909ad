import { defineConfig } from 'vite';

export default defineConfig({
  // Relative URLs, because hosts such as itch.io and GitHub Pages serve the game from a folder.
  base: './',
  server: { host: '127.0.0.1', port: Number(process.env.PORT ?? 5173), strictPort: true },
  // Phaser alone exceeds Vite's default chunk size warning limit.
  build: { chunkSizeWarningLimit: 2_000 },
});
