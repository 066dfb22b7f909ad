import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';

/** A child process whose methods can be called. */
export interface Child {
  pid: number;
  /** Calls a method. Rejects with the method's error, or if the process exits first. */
  call<T = void>(method: string, ...args: unknown[]): Promise<T>;
  /** Kills the process (SIGKILL), as a crash would. */
  kill(): Promise<void>;
}

type Reply = { id: number; result?: unknown; error?: string };

/** Starts `program.mjs` with an export of this module, and resolves when its methods can be called. */
export async function startChild(file: string, name: string, options: object): Promise<Child> {
  const child = fork(
    join(import.meta.dirname, 'program.mjs'),
    [join(import.meta.dirname, file), name, JSON.stringify(options)],
    // Only TypeScript modules need tsx. All other code is measured unmodified.
    { execArgv: file.endsWith('.ts') ? ['--import', 'tsx'] : [] },
  );
  // Pending calls by id. The id 0 stands for the start of the process.
  const calls = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  let hasExited = false;
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  void exited.then(() => {
    hasExited = true;
    for (const { reject } of calls.values()) reject(new Error(`${file} ended.`));
  });
  child.on('message', (reply) => {
    const { id, result, error } = reply as Reply;
    const call = calls.get(id);
    calls.delete(id);
    if (error === undefined) call?.resolve(result);
    else call?.reject(new Error(`${file}: ${error}`));
  });
  const reply = (id: number): Promise<unknown> =>
    new Promise((resolve, reject) => calls.set(id, { resolve, reject }));
  let lastId = 0;
  await reply(0);
  return {
    pid: findPid(child),
    async call<T>(method: string, ...args: unknown[]) {
      if (hasExited) throw new Error(`${file} ended.`);
      const id = (lastId += 1);
      const response = reply(id);
      child.send({ id, method, args });
      return (await response) as T;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

const findPid = ({ pid }: ChildProcess): number => pid ?? 0;
