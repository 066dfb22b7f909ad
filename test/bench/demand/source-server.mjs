/**
 * The external sources. They run in a separate process, so that their CPU time is not measured. `/<ms>/<name>` responds
 * with the document `name` after `ms` milliseconds, and `/never/<name>` never responds. `/media.mp4` is the media file
 * of every ad.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

const media = readFileSync(join(import.meta.dirname, '../../media/clip.mp4'));
const documents = new Map();
/**
 * How long each player's slowest source took, in milliseconds. The key is the number at the end of the player's
 * User-Agent.
 */
let times = {};

const server = createServer((request, response) => {
  const startedMs = performance.now();
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const [, delay, name] = new URL(request.url, 'http://localhost').pathname.split('/');
    if (delay === 'media.mp4') return response.setHeader('content-type', 'video/mp4').end(media);
    if (delay === 'tracker') return response.writeHead(204).end();
    if (delay === 'never') return;
    const document = documents.get(name) ?? '';
    const body = Buffer.concat(chunks);
    const text = body.length === 0 ? document : document.replace('REQUEST_ID', JSON.parse(body).id);
    const player = /#(\d+)$/.exec(request.headers['x-device-user-agent'] ?? '')?.[1];
    setTimeout(() => {
      response.end(text);
      if (player === undefined) return;
      times[player] = Math.max(times[player] ?? 0, performance.now() - startedMs);
    }, Number(delay));
  });
});
// Keeps idle connections open. Otherwise, a connection could close just as the next request is sent on it.
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () =>
  process.send({ url: `http://127.0.0.1:${server.address().port}` }),
);
process.on('message', (message) => {
  for (const [name, text] of Object.entries(message.documents ?? {})) documents.set(name, text);
  process.send({ times });
  times = {};
});
process.on('disconnect', () => process.exit());
