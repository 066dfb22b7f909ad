import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { runCommand } from '../../src/cli/command.ts';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

interface CommandResult {
  code: number | null;
  out: string;
  err: string;
}

/** A command that has been started in a separate process. */
export interface RunningCommand {
  /** Resolves with the first matching line from standard output or standard error. */
  line(pattern: RegExp): Promise<string>;
  /** Interrupts the command, as Ctrl-C does. */
  interrupt(): Promise<CommandResult>;
  result: Promise<CommandResult>;
  /** Closes the reading end of standard output. */
  stopReading(): void;
}

/** Starts `trueward-service` without inheriting any settings from this process. */
export function startCommand(args: string[], env: Record<string, string>): RunningCommand {
  const child = spawn(process.execPath, [main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', LOG_LEVEL: 'warn', ...env },
  });
  let [out, err] = ['', ''];
  let announce: () => void = () => undefined;
  child.stdout.on('data', (chunk: Buffer) => ((out += chunk.toString()), announce()));
  child.stderr.on('data', (chunk: Buffer) => ((err += chunk.toString()), announce()));
  const result = new Promise<CommandResult>((resolve) =>
    child.once('close', (code) => {
      resolve({ code, out, err });
      announce();
    }),
  );
  return {
    async line(pattern) {
      for (;;) {
        const line = `${out}\n${err}`.split('\n').find((line) => pattern.test(line));
        if (line !== undefined) return line;
        if (child.exitCode !== null)
          throw new Error(`The command printed no ${pattern}:\n${out}${err}`);
        await new Promise<void>((resolve) => (announce = resolve));
      }
    },
    interrupt() {
      child.kill('SIGINT');
      return result;
    },
    result,
    stopReading: () => void child.stdout.destroy(),
  };
}

export const run = (args: string[], env: Record<string, string>): Promise<CommandResult> =>
  startCommand(args, env).result;

/** Like {@link run}, but runs the command in this process. This saves the half second that starting a process takes. */
export async function runInProcess(
  args: string[],
  env: Record<string, string>,
): Promise<CommandResult> {
  const inherited = process.env;
  let [out, err] = ['', ''];
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true)),
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true)),
  ];
  process.env = { PATH: inherited['PATH'], LOG_LEVEL: 'warn', ...env };
  try {
    return { code: await runCommand(commands, args), out, err };
  } finally {
    process.env = inherited;
    for (const spy of spies) spy.mockRestore();
  }
}
