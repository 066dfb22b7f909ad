import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A Node program that is running and ready. */
export interface ReadyProcess<Ready> {
  ready: Ready;
  /** Stops the program with SIGTERM. Resolves when it has exited. */
  stop(): Promise<void>;
}

/** Starts a Node program and waits until it reports that it is ready, by printing a line of JSON. */
export async function startReady<Ready>(
  file: string,
  env: Record<string, string>,
): Promise<ReadyProcess<Ready>> {
  const child = spawn(process.execPath, [file], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (data: Buffer) => {
    errors = (errors + data.toString()).slice(-4_000);
  });
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('{"ready":true')) {
      child.stdout.resume();
      return {
        ready: JSON.parse(line) as Ready,
        stop: () => stopProcess(child),
      };
    }
  }
  throw new Error(`${file} exited before it was ready:\n${errors}`);
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
