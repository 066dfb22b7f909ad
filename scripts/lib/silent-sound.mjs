import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** How long PulseAudio may take until it listens, in milliseconds. */
const patienceMs = 10_000;

/**
 * A sound device that nobody hears, by a PulseAudio of its own: Firefox runs no audio context without a
 * device. It has to be there (`pulseaudio`).
 *
 * @returns {Promise<{ env: Record<string, string>, end(): void }>} `env`: for who is to play.
 */
export async function startSilentSound() {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-sound-'));
  const socket = join(folder, 'socket');
  const modules = [
    'module-null-sink',
    `module-native-protocol-unix socket=${socket} auth-anonymous=1`,
  ];
  const options = ['-n', '--daemonize=no', '--use-pid-file=no', '--exit-idle-time=-1'];
  const server = spawn('pulseaudio', [...options, ...modules.flatMap((module) => ['-L', module])], {
    env: { ...process.env, HOME: folder, XDG_RUNTIME_DIR: folder },
    stdio: 'ignore',
  });
  const end = () => {
    process.off('exit', end);
    server.kill();
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', end);
  const until = performance.now() + patienceMs;
  while (!existsSync(socket)) {
    if (performance.now() > until || server.exitCode !== null) {
      end();
      throw new Error(`pulseaudio did not listen at ${socket}.`);
    }
    await delay(50);
  }
  return { env: { PULSE_SERVER: `unix:${socket}` }, end };
}
