import { Worker } from 'node:worker_threads';

/** Options that are passed to the worker when it starts. */
export interface WorkerOptions {
  /** The folder of the PostgreSQL cluster. */
  directory: string;
  /** `initialize` creates a cluster and exits; `serve` opens a cluster and runs statements. */
  mode: 'initialize' | 'serve';
}

export type WorkerRequest =
  | { id: number; kind: 'query'; text: string; params: readonly unknown[] }
  | { id: number; kind: 'close' };

export type WorkerResponse =
  | { id: number; rows: Record<string, unknown>[] }
  | { id: number; error: { message: string; code?: string } };

/** The id of the worker's first message. It says either that the worker is ready or why it failed to start. */
export const readyId = 0;

type RequestBody = WorkerRequest extends infer R
  ? R extends { id: number }
    ? Omit<R, 'id'>
    : never
  : never;

/** The worker thread of the embedded database. */
export interface DatabaseThread {
  send(request: RequestBody): Promise<Record<string, unknown>[]>;
  terminate(): Promise<void>;
}

/** An error from the database; `code` is the SQLSTATE, if there is one. */
export class DatabaseError extends Error {
  readonly code: string | undefined;
  constructor(message: string, code?: string) {
    super(message);
    this.name = 'DatabaseError';
    this.code = code;
  }
}

/** Starts the worker. Resolves when the worker is ready or, in the mode `initialize`, done. */
export async function startDatabaseThread(options: WorkerOptions): Promise<DatabaseThread> {
  const worker = startWorker(options);
  const pending = new Map<
    number,
    { resolve(rows: Record<string, unknown>[]): void; reject(error: Error): void }
  >();
  let lastId = readyId;
  let ended: Error | undefined;

  const fail = (error: Error): void => {
    ended ??= error;
    for (const { reject } of pending.values()) reject(ended);
    pending.clear();
  };
  worker.on('error', fail);
  worker.on('exit', () => fail(new DatabaseError('The database has been closed.')));
  worker.on('message', (response: WorkerResponse) => {
    const request = pending.get(response.id);
    pending.delete(response.id);
    if ('error' in response)
      request?.reject(new DatabaseError(response.error.message, response.error.code));
    else request?.resolve(response.rows);
  });

  const responseTo = (id: number): Promise<Record<string, unknown>[]> =>
    new Promise((resolve, reject) => {
      if (ended) reject(ended);
      else pending.set(id, { resolve, reject });
    });

  await responseTo(readyId);
  return {
    send(request) {
      lastId += 1;
      const response = responseTo(lastId);
      if (!ended) worker.postMessage({ ...request, id: lastId });
      return response;
    },
    async terminate() {
      await worker.terminate();
    },
  };
}

function startWorker(workerData: WorkerOptions): Worker {
  // The build puts the worker next to this file.
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL('./pglite-worker.js', import.meta.url), { workerData });
  }
  // If the service runs from source, as in tests, the worker is a TypeScript file too. tsx registers itself only in the
  // main thread, so `--import tsx` has no effect in a worker.
  const file = new URL('./worker.ts', import.meta.url).href;
  const script = `import('tsx/esm/api').then(({ register }) => (register(), import(${JSON.stringify(file)})))`;
  return new Worker(script, { eval: true, workerData });
}
