import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type ClockMove, createTestClock } from '../src/program/development/test-clock.ts';
import { type Clock, systemClock } from '../src/platform/time.ts';
import { copyMigratedDatabase } from './empty-database.ts';

type KeyPair = { publishable: string; secret: string };

/** A service running in a separate process. */
export interface RunningService {
  url: string;
  /** The demo account's keys. */
  keys: { sandbox: KeyPair; live: KeyPair };
  /** The first owner's setup URL, or undefined if a user already exists. */
  setupUrl: string | undefined;
  dataDir: string;
  process: ChildProcess;
  /** Mirrors the service's clock. Clients use it for event times. */
  clock: Clock;
  /** Moves the service's clock. Requires `testClock`. */
  moveClock(move: ClockMove): Promise<void>;
  /** Stops the process with SIGTERM. Resolves with its exit code. */
  stop(): Promise<number | null>;
  /** Kills the process with SIGKILL. */
  kill(): Promise<void>;
}

interface Options {
  /** Default: a new folder that is removed when the service stops. */
  dataDir?: string;
  env?: Record<string, string>;
  /** Runs the service with a test clock, which {@link RunningService.moveClock} advances. */
  testClock?: boolean;
  /** The path to another build's `main.js`. Default: this working tree's build. */
  main?: string;
}

/**
 * In tests, services run for seconds only. V8 would spend most of their CPU time on optimizing the embedded database's
 * WebAssembly. Benchmarks run without this option, as an installed service does.
 */
export const startupOptions = process.env['VITEST'] === undefined ? [] : ['--liftoff-only'];

const builtMain = fileURLToPath(new URL('../dist/main.js', import.meta.url));

/**
 * Starts the built service (`npm run build`) in development mode. Resolves when the service is ready. `startInProcess`
 * is ten times as fast for tests that do not need a separate process.
 *
 * @throws Error with the log if the service exits before it is ready.
 * @example
 * const service = await startService();
 * await fetch(`${service.url}/healthz`);
 * await service.stop();
 */
export async function startService({
  dataDir,
  env = {},
  testClock = false,
  main = builtMain,
}: Options = {}): Promise<RunningService> {
  if (!existsSync(main)) throw new Error(`${main} is missing: build the service first.`);
  const folder = dataDir ?? mkdtempSync(join(tmpdir(), 'trueward-'));
  if (env['DATABASE_URL'] === undefined) await copyMigratedDatabase(join(folder, 'database'));
  const child = spawn(process.execPath, [...startupOptions, main, 'start'], {
    stdio: ['ignore', 'pipe', 'pipe', ...(testClock ? (['ipc'] as const) : [])],
    env: {
      ...process.env,
      PORT: '0',
      LOG_LEVEL: 'warn',
      TRUEWARD_DEVELOPMENT: '1',
      TRUEWARD_DATA_DIR: folder,
      ...(testClock ? { TRUEWARD_TEST_CLOCK: '1' } : {}),
      ...env,
    },
  });
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('The service has no output pipes.');
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let log = '';
  stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const line = await Promise.race([
    firstLine(stdout),
    exit.then((code) => {
      throw new Error(`The service exited with ${code} before it was ready:\n${log}`);
    }),
  ]);
  const {
    url,
    keys,
    setup_url: setupUrl,
  } = JSON.parse(line) as Pick<RunningService, 'url' | 'keys'> & { setup_url?: string };

  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    return exit;
  };
  // Mirrors the clock in the service process: both add the same offsets to the system time.
  const clock = createTestClock();
  return {
    url,
    keys,
    setupUrl,
    clock: testClock ? clock : systemClock,
    async moveClock(move) {
      if (!testClock) throw new Error('Start the service with testClock to move its clock.');
      const confirmation = once(child, 'message');
      child.send(move);
      await confirmation;
      clock.move(move);
    },
    dataDir: folder,
    process: child,
    async stop() {
      const code = await end('SIGTERM');
      if (dataDir === undefined) rmSync(folder, { recursive: true, force: true });
      return code;
    },
    async kill() {
      await end('SIGKILL');
    },
  };
}

function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve) => {
    const lines = createInterface(stream);
    lines.once('line', (line) => {
      lines.close();
      stream.resume();
      resolve(line);
    });
  });
}
