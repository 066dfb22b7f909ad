import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

interface Ran {
  code: number | null;
  out: string;
  err: string;
}

/** A command that is still running. */
export interface RunningCommand {
  /** Resolves when it has written a line that matches, on either stream, with that line. */
  line(pattern: RegExp): Promise<string>;
  /** Ends it as Ctrl-C does. */
  interrupt(): Promise<Ran>;
  ended: Promise<Ran>;
}

/** Starts `trueward-service` as a person does; only the named variables of the service are set. */
export function launch(args: string[], env: Record<string, string>): RunningCommand {
  const child = spawn(process.execPath, [main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', LOG_LEVEL: 'warn', ...env },
  });
  let [out, err] = ['', ''];
  let announce: () => void = () => undefined;
  child.stdout.on('data', (chunk: Buffer) => ((out += chunk.toString()), announce()));
  child.stderr.on('data', (chunk: Buffer) => ((err += chunk.toString()), announce()));
  const ended = new Promise<Ran>((resolve) =>
    child.once('close', (code) => {
      resolve({ code, out, err });
      announce();
    }),
  );
  return {
    async line(pattern) {
      for (;;) {
        const found = `${out}\n${err}`.split('\n').find((line) => pattern.test(line));
        if (found !== undefined) return found;
        if (child.exitCode !== null) throw new Error(`It ended without ${pattern}:\n${out}${err}`);
        await new Promise<void>((resolve) => (announce = resolve));
      }
    },
    interrupt() {
      child.kill('SIGINT');
      return ended;
    },
    ended,
  };
}

export const run = (args: string[], env: Record<string, string>): Promise<Ran> =>
  launch(args, env).ended;
