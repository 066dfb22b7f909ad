import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** How long to wait for PulseAudio to start, in milliseconds. */
const startTimeoutMs = 10_000;

/**
 * Starts a PulseAudio server with a null sink. Without an audio device, Firefox suspends audio contexts. Requires
 * `pulseaudio`.
 *
 * @returns {Promise<{ env: Record<string, string>, stop(): void }>} `env` contains environment variables for the browser.
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
  const stop = () => {
    process.off('exit', stop);
    server.kill();
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', stop);
  const deadline = performance.now() + startTimeoutMs;
  while (!existsSync(socket)) {
    if (performance.now() > deadline || server.exitCode !== null) {
      stop();
      throw new Error(`pulseaudio did not listen at ${socket}.`);
    }
    await delay(50);
  }
  return { env: { PULSE_SERVER: `unix:${socket}` }, stop };
}
