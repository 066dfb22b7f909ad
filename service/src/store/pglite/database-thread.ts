import { Worker } from 'node:worker_threads';

/** The worker's startup options. */
export interface WorkerOptions {
  /** The data directory of the PostgreSQL cluster. */
  directory: string;
  /** `initialize` creates a cluster and exits. `serve` opens a cluster and runs statements. */
  mode: 'initialize' | 'serve';
}

export type WorkerRequest =
  | { id: number; kind: 'query'; text: string; params: readonly unknown[] }
  | { id: number; kind: 'close' };

export type WorkerResponse =
  | { id: number; rows: Record<string, unknown>[] }
  | { id: number; error: { message: string; code?: string } };

/** The id of the worker's first message, which reports that the worker is ready or has failed to start. */
export const readyId = 0;

type RequestBody = WorkerRequest extends infer R
  ? R extends { id: number }
    ? Omit<R, 'id'>
    : never
  : never;

/** The worker thread that runs the embedded database. */
export interface DatabaseThread {
  send(request: RequestBody): Promise<Record<string, unknown>[]>;
  terminate(): Promise<void>;
}

/** An error from the database. `code` is the SQLSTATE, if there is one. */
export class DatabaseError extends Error {
  readonly code: string | undefined;
  constructor(message: string, code?: string) {
    super(message);
    this.name = 'DatabaseError';
    this.code = code;
  }
}

/** Starts the worker. Resolves when the worker is ready or, in `initialize` mode, when it has finished. */
export async function startDatabaseThread(options: WorkerOptions): Promise<DatabaseThread> {
  const worker = startWorker(options);
  const pending = new Map<
    number,
    { resolve(rows: Record<string, unknown>[]): void; reject(error: Error): void }
  >();
  let lastId = readyId;
  let exitError: Error | undefined;

  const fail = (error: Error): void => {
    exitError ??= error;
    for (const { reject } of pending.values()) reject(exitError);
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

  const waitForResponse = (id: number): Promise<Record<string, unknown>[]> =>
    new Promise((resolve, reject) => {
      if (exitError) reject(exitError);
      else pending.set(id, { resolve, reject });
    });

  try {
    await waitForResponse(readyId);
  } catch (error) {
    // A half-started database has open handles, which would keep the process running.
    await worker.terminate();
    throw error;
  }
  return {
    send(request) {
      lastId += 1;
      const response = waitForResponse(lastId);
      if (!exitError) worker.postMessage({ ...request, id: lastId });
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
  // Tests run the worker from its TypeScript source. Each thread has to register tsx, because `--import tsx` has no
  // effect in a worker.
  const file = new URL('./worker.ts', import.meta.url).href;
  const script = `import('tsx/esm/api').then(({ register }) => (register(), import(${JSON.stringify(file)})))`;
  return new Worker(script, { eval: true, workerData });
}
