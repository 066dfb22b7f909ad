import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { commands } from '../../src/program/cli/commands.ts';
import { runCommand } from '../../src/program/cli/command.ts';
import { startupOptions } from '../start-service.ts';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

interface CommandResult {
  code: number | null;
  out: string;
  err: string;
}

/** A command that is running in a separate process. */
export interface RunningCommand {
  /** Resolves with the first matching line from standard output or standard error. */
  waitForLine(pattern: RegExp): Promise<string>;
  /** Sends SIGINT to the command, like Ctrl-C. */
  interrupt(): Promise<CommandResult>;
  result: Promise<CommandResult>;
  /** Closes the read end of the command's standard output. */
  stopReading(): void;
}

/** Starts `trueward-service` without inheriting any settings from this process. */
export function startCommand(args: string[], env: Record<string, string>): RunningCommand {
  const child = spawn(process.execPath, [...startupOptions, main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', LOG_LEVEL: 'warn', ...env },
  });
  let [out, err] = ['', ''];
  let notify: () => void = () => undefined;
  child.stdout.on('data', (chunk: Buffer) => ((out += chunk.toString()), notify()));
  child.stderr.on('data', (chunk: Buffer) => ((err += chunk.toString()), notify()));
  const result = new Promise<CommandResult>((resolve) =>
    child.once('close', (code) => {
      resolve({ code, out, err });
      notify();
    }),
  );
  return {
    async waitForLine(pattern) {
      for (;;) {
        const line = `${out}\n${err}`.split('\n').find((line) => pattern.test(line));
        if (line !== undefined) return line;
        if (child.exitCode !== null)
          throw new Error(
            `The command did not print anything that matches ${pattern}:\n${out}${err}`,
          );
        await new Promise<void>((resolve) => (notify = resolve));
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

/** Like {@link run}, but runs the command in this process, which saves half a second of process startup. */
export async function runInProcess(
  args: string[],
  env: Record<string, string>,
): Promise<CommandResult> {
  const inheritedEnv = process.env;
  let [out, err] = ['', ''];
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true)),
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true)),
  ];
  process.env = { PATH: inheritedEnv['PATH'], LOG_LEVEL: 'warn', ...env };
  try {
    return { code: await runCommand(commands, args), out, err };
  } finally {
    process.env = inheritedEnv;
    for (const spy of spies) spy.mockRestore();
  }
}
