import { Worker } from 'node:worker_threads';
import { DomainError } from '../platform/domain-error.ts';
import type { MediaFacts } from './ingest-media.ts';

export type ProbeResponse = { facts: MediaFacts } | { problem: string };

/** Reads files of strangers in a thread of its own. */
export interface ProbeThread {
  /**
   * Like `readMedia`. A 20 MB file can keep its parser busy for a second, and decisions must not wait for that.
   *
   * @throws DomainError when the file is unsupported, corrupt, or too costly to read.
   */
  probe(body: Buffer): Promise<MediaFacts>;
  stop(): Promise<void>;
}

interface Options {
  /** How long a file may take (default 10 s). */
  timeoutMs?: number;
  /** How long the thread waits for the next file before it ends (default 30 s). */
  idleMs?: number;
}

/** Starts with the first file, because the parser takes half a second to load. */
export function createProbeThread({
  timeoutMs = 10_000,
  idleMs = 30_000,
}: Options = {}): ProbeThread {
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  /** Files are read one by one. */
  let last: Promise<unknown> = Promise.resolve();

  const end = async (): Promise<void> => {
    clearTimeout(idle);
    const ending = worker;
    worker = undefined;
    await ending?.terminate();
  };

  const run = async (body: Buffer): Promise<MediaFacts> => {
    clearTimeout(idle);
    worker ??= startWorker();
    try {
      const response = await ask(worker, body, timeoutMs);
      idle = setTimeout(() => void end(), idleMs);
      idle.unref();
      if ('facts' in response) return response.facts;
      throw new DomainError('invalid_request', response.problem);
    } catch (error) {
      if (!(error instanceof DomainError)) {
        await end();
        throw new DomainError('invalid_request', 'The file takes too much time or memory to read.');
      }
      throw error;
    }
  };

  return {
    probe(body) {
      const result = last.then(() => run(body));
      last = result.catch(() => undefined);
      return result;
    },
    async stop() {
      await last;
      await end();
    },
  };
}

function ask(worker: Worker, body: Buffer, timeoutMs: number): Promise<ProbeResponse> {
  const { promise, resolve, reject } = settle<ProbeResponse>();
  const onExit = (): void => reject(new Error('The thread ended.'));
  const timer = setTimeout(() => reject(new Error('The thread is busy.')), timeoutMs);
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', onExit);
  // The caller keeps its bytes: a copy is moved.
  const copy = new Uint8Array(body);
  worker.postMessage(copy, [copy.buffer]);
  return promise.finally(() => {
    clearTimeout(timer);
    worker.off('message', resolve);
    worker.off('error', reject);
    worker.off('exit', onExit);
  });
}

function settle<T>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}

/** Enough for the tables of a 20 MB file. */
const resourceLimits = { maxOldGenerationSizeMb: 512 };

function startWorker(): Worker {
  const worker = createWorker();
  // An error without a request, such as one after a timeout: the next file gets a new thread.
  worker.on('error', () => undefined);
  worker.unref();
  return worker;
}

function createWorker(): Worker {
  // The build puts the worker next to this file.
  if (!import.meta.url.endsWith('.ts'))
    return new Worker(new URL('./probe-worker.js', import.meta.url), { resourceLimits });
  // Run from source, as in tests, the worker is TypeScript as well; tsx has to be registered in each thread.
  const file = new URL('./probe-worker.ts', import.meta.url).href;
  const script = `import('tsx/esm/api').then(({ register }) => (register(), import(${JSON.stringify(file)})))`;
  return new Worker(script, { eval: true, resourceLimits });
}
