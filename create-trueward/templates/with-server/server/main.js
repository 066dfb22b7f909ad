// In production, this file serves the built game (`npm run build`) and the game server's routes.
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';
import { createGameServer } from './game-server.js';

const port = Number(process.env.PORT ?? 8080);
const builtDir = join(import.meta.dirname, '..', 'dist');
const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css' };

try {
  const game = await createGameServer();
  createServer((request, response) => {
    game.handle(request, response).then(
      (wasHandled) => wasHandled || serveFile(request, response),
      (error) => {
        console.error(error);
        response.writeHead(500).end();
      },
    );
  }).listen(port, () => console.log(`The game is running at http://127.0.0.1:${port}`));
  // The URL at which the ad service can reach this server; in production, its public URL.
  await game.receiveWebhooksAt(process.env.PUBLIC_URL ?? `http://127.0.0.1:${port}`);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}

function serveFile(request, response) {
  const path = new URL(request.url ?? '/', 'http://game').pathname;
  const file = normalize(join(builtDir, path === '/' ? 'index.html' : path));
  const exists =
    file.startsWith(builtDir + sep) && statSync(file, { throwIfNoEntry: false })?.isFile();
  if (!exists) return response.writeHead(404).end();
  response.setHeader('content-type', types[extname(file)] ?? 'application/octet-stream');
  return createReadStream(file).pipe(response);
}
