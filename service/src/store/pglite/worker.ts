// Runs the embedded database in a separate thread, because its synchronous calls would block the main thread.
import { lstatSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { syncDescriptor, syncFolder } from '../../platform/durable-files.ts';
import {
  readyId,
  type WorkerOptions,
  type WorkerRequest,
  type WorkerResponse,
} from './database-thread.ts';

interface Stream {
  nfd?: number;
  node: unknown;
}

/** Types for the parts of Emscripten's file systems that this module uses. The package doesn't include them. */
interface EmscriptenModule {
  FS: { ErrnoError: new (code: number) => unknown };
  NODEFS: {
    realPath(node: unknown): string;
    getMode(path: string): number;
    stream_ops: { fsync?: (stream: Stream) => number };
    node_ops: { setattr(node: unknown, attributes: { mode?: number }): void };
  };
}

/** Emscripten's error number for `ENOENT`. */
const noEntry = 44;

/**
 * PGlite's on-disk file system, with two additions: files are accessible only to their owner, and fsync works.
 * Emscripten's NODEFS has no fsync, so a commit would not survive a power failure
 * (https://github.com/electric-sql/pglite/issues/1107).
 */
class DurableFileSystem extends NodeFS {
  override async init(...args: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(...args);
    const patch = (module: object): void => {
      addFsync(module as EmscriptenModule);
      avoidExceptions(module as EmscriptenModule);
      restrictModes(module as EmscriptenModule);
    };
    return {
      emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), patch] },
    };
  }
}

function addFsync({ NODEFS: files }: EmscriptenModule): void {
  files.stream_ops.fsync = (stream) => {
    const path = files.realPath(stream.node);
    // The stream of a folder has no file descriptor.
    if (stream.nfd === undefined) syncFolder(path);
    else syncDescriptor(stream.nfd, path);
    return 0;
  };
}

/**
 * Checks whether a file exists before opening it, because throwing an exception for a missing file takes Node.js 50 µs.
 * When an index page is full, PostgreSQL tries to open the index's free space map, which usually doesn't exist.
 */
function avoidExceptions({ FS, NODEFS: files }: EmscriptenModule): void {
  const { getMode } = files;
  files.getMode = (path) => {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) throw new FS.ErrnoError(noEntry);
    return getMode(path);
  };
}

/** Restricts the permissions of new files. Emscripten sets the mode explicitly and ignores the umask. */
function restrictModes({ NODEFS: files }: EmscriptenModule): void {
  const { setattr } = files.node_ops;
  files.node_ops.setattr = (node, attributes) => {
    const { mode } = attributes;
    setattr(node, mode === undefined ? attributes : { ...attributes, mode: mode & ~0o077 });
  };
}

const { directory, mode } = workerData as WorkerOptions;
const port = parentPort;
if (port === null) throw new Error('This file runs as a worker thread of the service.');
const send = (response: WorkerResponse): void => port.postMessage(response);

// Removes `-F`, which disables fsync. The WebAssembly build has no fdatasync, so WAL is synced with fsync. By default,
// PostgreSQL allocates 128 MB of shared buffers, most of which the service doesn't need.
const startParams = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  '-c',
  'wal_sync_method=fsync',
  '-c',
  'shared_buffers=16MB',
];

try {
  if (mode === 'initialize') {
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
  const respond = async (request: WorkerRequest): Promise<WorkerResponse> => {
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
  port?.on('message', (request: WorkerRequest) => void respond(request).then(send));
}

function describe(error: unknown): { message: string; code?: string } {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? { message, code } : { message };
}
