import { Worker } from 'node:worker_threads';
import { DomainError } from '../platform/domain-error.ts';
import type { MediaProperties } from './read-media.ts';

/** A file that was read. */
export interface ProbedFile {
  body: Buffer;
  /** The hex-encoded hash of the content. */
  sha256: string;
  properties: MediaProperties;
}

export type ProbeResponse =
  { body: Uint8Array; sha256: string; properties: MediaProperties } | { problem: string };

/** Reads untrusted files in a separate thread. */
export interface ProbeThread {
  /**
   * Like `readMedia`, but doesn't block the main thread. Parsing a 20 MB file can take a second; copying and hashing it
   * take 15 ms each. So the thread also hashes it, and gets the caller's memory, which it gives back: afterward, use the
   * returned body.
   *
   * @throws DomainError when the file is unsupported, corrupt, or too costly to read.
   */
  probe(body: Buffer): Promise<ProbedFile>;
  stop(): Promise<void>;
}

interface Options {
  /**
   * Maximum time per file (default 15 s), not counting the start of the thread. An honest file takes at most a second; on
   * a busy machine, ten times as long, because everything else comes first.
   */
  timeoutMs?: number;
  /** How long the thread may be idle before it is terminated (default 30 s). */
  idleMs?: number;
}

/**
 * Creates a probe thread. The thread starts when the first file arrives, because the parser takes half a second to
 * load.
 */
export function createProbeThread({
  timeoutMs = 15_000,
  idleMs = 30_000,
}: Options = {}): ProbeThread {
  let worker: Worker | undefined;
  let ready: Promise<unknown> = Promise.resolve();
  let idleTimer: NodeJS.Timeout | undefined;
  /** Settles when the previous file has been read. The thread reads one file at a time. */
  let previous: Promise<unknown> = Promise.resolve();

  const terminate = async (): Promise<void> => {
    clearTimeout(idleTimer);
    const exitingWorker = worker;
    worker = undefined;
    await exitingWorker?.terminate();
  };

  const run = async (body: Buffer): Promise<ProbedFile> => {
    clearTimeout(idleTimer);
    try {
      if (!worker) {
        worker = startWorker();
        ready = receive(worker, startTimeoutMs);
      }
      await ready;
      const response = await sendToWorker(worker, body, timeoutMs);
      idleTimer = setTimeout(() => void terminate(), idleMs);
      idleTimer.unref();
      if ('properties' in response) {
        const { buffer, byteOffset, byteLength } = response.body;
        return { ...response, body: Buffer.from(buffer, byteOffset, byteLength) };
      }
      throw new DomainError('invalid_request', response.problem);
    } catch (error) {
      if (!(error instanceof DomainError)) {
        await terminate();
        throw new DomainError(
          'invalid_request',
          'The file takes too much time or memory to read. If the service is busy, try again later.',
        );
      }
      throw error;
    }
  };

  return {
    probe(body) {
      const result = previous.then(() => run(body));
      previous = result.catch(() => undefined);
      return result;
    },
    async stop() {
      await previous;
      await terminate();
    },
  };
}

/** Maximum time for the thread to start and load the parsers. On a busy machine, this takes several seconds. */
const startTimeoutMs = 60_000;

function sendToWorker(worker: Worker, body: Buffer, timeoutMs: number): Promise<ProbeResponse> {
  const response = receive<ProbeResponse>(worker, timeoutMs);
  // A small buffer is a part of memory that others use too.
  const ownsMemory = body.byteLength === body.buffer.byteLength;
  const file = ownsMemory ? new Uint8Array(body.buffer as ArrayBuffer) : new Uint8Array(body);
  worker.postMessage(file, [file.buffer]);
  return response;
}

/** Resolves to the thread's next message. Rejects if the thread fails, exits or takes too long. */
function receive<T>(worker: Worker, timeoutMs: number): Promise<T> {
  const { promise, resolve, reject } = createDeferred<T>();
  const onExit = (): void => reject(new Error('The probe thread exited.'));
  const timer = setTimeout(
    () => reject(new Error(`The probe thread did not respond within ${timeoutMs} ms.`)),
    timeoutMs,
  );
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', onExit);
  return promise.finally(() => {
    clearTimeout(timer);
    worker.off('message', resolve);
    worker.off('error', reject);
    worker.off('exit', onExit);
  });
}

/** Stands in for `Promise.withResolvers`, which Node 20 lacks. */
function createDeferred<T>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}

/** Enough memory to parse a 20 MB file. */
const resourceLimits = { maxOldGenerationSizeMb: 512 };

function startWorker(): Worker {
  const worker = createWorker();
  // Ignores errors between files, such as after a timeout. The next file starts a new thread.
  worker.on('error', () => undefined);
  worker.unref();
  return worker;
}

function createWorker(): Worker {
  // The build emits the worker next to this file.
  if (!import.meta.url.endsWith('.ts'))
    return new Worker(new URL('./probe-worker.js', import.meta.url), { resourceLimits });
  // Tests run the worker from its TypeScript source, and each thread has to register tsx.
  const file = new URL('./probe-worker.ts', import.meta.url).href;
  const script = `import('tsx/esm/api').then(({ register }) => (register(), import(${JSON.stringify(file)})))`;
  return new Worker(script, { eval: true, resourceLimits });
}
