import { defineConfig } from 'vite';
import { createGameServer } from './server/game-server.js';

// During development, one process serves the game and its server on one port.
const port = Number(process.env.PORT ?? 5173);

export default defineConfig(({ command }) => ({
  server: { host: '127.0.0.1', port, strictPort: true },
  // Phaser alone exceeds Vite's default chunk size warning limit.
  build: { chunkSizeWarningLimit: 2_000 },
  plugins: command === 'serve' ? [gameServer()] : [],
}));

function gameServer() {
  return {
    name: 'game-server',
    /** @param {import('vite').ViteDevServer} vite */
    async configureServer({ httpServer, middlewares }) {
      const server = await createGameServer();
      middlewares.use(
        (request, response, next) => void handleRequest(server, request, response, next),
      );
      httpServer?.once('listening', () => {
        server.receiveWebhooksAt(`http://127.0.0.1:${port}`).catch((error) => {
          console.error(error.message);
          process.exit(1);
        });
      });
    },
  };
}

/** Passes requests for the game server's routes to the game server, and all other requests to Vite. */
async function handleRequest(server, request, response, next) {
  try {
    if (!(await server.handle(request, response))) next();
  } catch (error) {
    next(error);
  }
}
