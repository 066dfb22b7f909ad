import { Worker } from 'node:worker_threads';
import { readyId, type WorkerAnswer, type WorkerOptions, type WorkerRequest } from './messages.ts';

type Question = WorkerRequest extends infer R
  ? R extends { id: number }
    ? Omit<R, 'id'>
    : never
  : never;

/** The database's worker thread, as questions and answers. */
export interface DatabaseThread {
  ask(question: Question): Promise<Record<string, unknown>[]>;
  end(): Promise<void>;
}

/** An error of the database; `code` is the SQLSTATE where there is one. */
export class DatabaseError extends Error {
  readonly code: string | undefined;
  constructor(message: string, code?: string) {
    super(message);
    this.name = 'DatabaseError';
    this.code = code;
  }
}

/** Starts the worker and resolves when it is ready (mode `initialise`: when it is done). */
export async function startDatabaseThread(options: WorkerOptions): Promise<DatabaseThread> {
  const worker = startWorker(options);
  const waiting = new Map<
    number,
    { resolve(rows: Record<string, unknown>[]): void; reject(error: Error): void }
  >();
  let lastId = readyId;
  let ended: Error | undefined;

  const fail = (error: Error): void => {
    ended ??= error;
    for (const { reject } of waiting.values()) reject(ended);
    waiting.clear();
  };
  worker.on('error', fail);
  worker.on('exit', () => fail(new DatabaseError('The database has been closed.')));
  worker.on('message', (answer: WorkerAnswer) => {
    const waiter = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ('error' in answer)
      waiter?.reject(new DatabaseError(answer.error.message, answer.error.code));
    else waiter?.resolve(answer.rows);
  });

  const expect = (id: number): Promise<Record<string, unknown>[]> =>
    new Promise((resolve, reject) => {
      if (ended) reject(ended);
      else waiting.set(id, { resolve, reject });
    });

  await expect(readyId);
  return {
    ask(question) {
      lastId += 1;
      const answer = expect(lastId);
      if (!ended) worker.postMessage({ ...question, id: lastId });
      return answer;
    },
    async end() {
      await worker.terminate();
    },
  };
}

function startWorker(workerData: WorkerOptions): Worker {
  // The build puts the worker beside this file.
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL('./pglite-worker.js', import.meta.url), { workerData });
  }
  // From source (tests) it is TypeScript as well. tsx registers itself in the main thread only, so
  // `--import tsx` does nothing in a worker.
  const file = new URL('./worker.ts', import.meta.url).href;
  const script = `import('tsx/esm/api').then(({ register }) => (register(), import(${JSON.stringify(file)})))`;
  return new Worker(script, { eval: true, workerData });
}
