/** The thread in which the embedded database runs: its calls are synchronous and would block HTTP. */
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { DurableFileSystem } from './durable-file-system.ts';
import { readyId, type WorkerAnswer, type WorkerOptions, type WorkerRequest } from './messages.ts';

const { directory, mode } = workerData as WorkerOptions;
const port = parentPort;
if (port === null) throw new Error('This file runs as a worker thread of the service.');
const send = (answer: WorkerAnswer): void => port.postMessage(answer);

// `-F` would switch fsync off; the WebAssembly build has no fdatasync. The default of 128 MB of
// shared buffers is mostly untouched memory here.
const startParams = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  '-c',
  'wal_sync_method=fsync',
  '-c',
  'shared_buffers=16MB',
];

try {
  if (mode === 'initialise') {
    const database = await PGlite.create(directory);
    await database.close();
  } else {
    serve(await PGlite.create({ fs: new DurableFileSystem(directory), startParams }));
  }
  send({ id: readyId, rows: [] });
} catch (error) {
  send({ id: readyId, error: describe(error) });
}

function serve(database: PGlite): void {
  const answer = async (request: WorkerRequest): Promise<WorkerAnswer> => {
    try {
      if (request.kind === 'close') {
        await database.close();
        return { id: request.id, rows: [] };
      }
      const { rows } = await database.query<Record<string, unknown>>(request.text, [
        ...request.params,
      ]);
      return { id: request.id, rows };
    } catch (error) {
      return { id: request.id, error: describe(error) };
    }
  };
  port?.on('message', (request: WorkerRequest) => void answer(request).then(send));
}

function describe(error: unknown): { message: string; code?: string } {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? { message, code } : { message };
}
