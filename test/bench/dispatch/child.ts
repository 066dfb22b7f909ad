import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';

/** A child process with methods that this process can call. */
export interface Child {
  pid: number;
  /** Calls a method. Rejects with the method's error, or if the process exits first. */
  call<T = void>(method: string, ...args: unknown[]): Promise<T>;
  /** Kills the process (SIGKILL), as a crash would. */
  kill(): Promise<void>;
}

type Reply = { id: number; result?: unknown; error?: string };

/** Starts `program.mjs` with the export `name` of the module `file`. Resolves when the child's methods can be called. */
export async function startChild(file: string, name: string, options: object): Promise<Child> {
  const child = fork(
    join(import.meta.dirname, 'program.mjs'),
    [join(import.meta.dirname, file), name, JSON.stringify(options)],
    // Only TypeScript modules need tsx. All other modules run unmodified.
    { execArgv: file.endsWith('.ts') ? ['--import', 'tsx'] : [] },
  );
  // Pending calls by id. The id 0 stands for the process's startup.
  const calls = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  let hasExited = false;
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  void exited.then(() => {
    hasExited = true;
    for (const { reject } of calls.values()) reject(new Error(`${file} exited.`));
  });
  child.on('message', (reply) => {
    const { id, result, error } = reply as Reply;
    const call = calls.get(id);
    calls.delete(id);
    if (error === undefined) call?.resolve(result);
    else call?.reject(new Error(`${file}: ${error}`));
  });
  const waitForReply = (id: number): Promise<unknown> =>
    new Promise((resolve, reject) => calls.set(id, { resolve, reject }));
  let lastId = 0;
  await waitForReply(0);
  return {
    pid: findPid(child),
    async call<T>(method: string, ...args: unknown[]) {
      if (hasExited) throw new Error(`${file} exited.`);
      const id = (lastId += 1);
      const response = waitForReply(id);
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
