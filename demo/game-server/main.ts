import { join } from 'node:path';
import { readConfig } from './config.ts';
import { startGameServer } from './start-game-server.ts';

/** The folder that contains the built game, next to the built server's folder. */
const gameDir = join(import.meta.dirname, '../game');

try {
  const server = await startGameServer(readConfig(process.env), gameDir);
  const stop = () => {
    server.close().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  // On Windows, `npm start` asks with a message, because no signal can.
  process.once('message', (message) => message === 'stop' && stop());
  if (process.platform === 'win32') process.once('disconnect', stop);
  process.channel?.unref();
  console.log(JSON.stringify({ ready: true, url: server.url }));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
