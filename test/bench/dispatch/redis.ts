import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import getPort from 'get-port';

/** A Redis server that is used for only one run. */
export interface PrivateRedis {
  port: number;
  pid: number;
  stop(): Promise<void>;
}

/** With these settings, Redis acknowledges a write only once it is on disk, as PostgreSQL does. */
export const redisSettings = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];

/** Starts the installed `redis-server` in a new folder. `stop()` removes the folder. */
export async function startPrivateRedis(): Promise<PrivateRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-redis-'));
  const port = await getPort({ host: '127.0.0.1' });
  const server = spawn(
    'redis-server',
    ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, ...redisSettings],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const killServer = () => server.kill();
  process.once('exit', killServer);
  const exited = once(server, 'exit');
  const lines = createInterface(server.stdout);
  await new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => {
      if (line.includes('Ready to accept connections')) resolve();
    });
    lines.once('close', () => reject(new Error('Redis exited before it was ready.')));
    server.once('error', reject);
  });
  return {
    port,
    pid: server.pid ?? 0,
    async stop() {
      server.kill();
      await exited;
      process.off('exit', killServer);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
