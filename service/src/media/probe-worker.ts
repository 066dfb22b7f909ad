import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { DomainError } from '../platform/domain-error.ts';
import { readMedia } from './read-media.ts';
import type { ProbeResponse } from './probe-thread.ts';

// The worker that `probe-thread.ts` starts. It reads one file at a time.

// Files wait for players' requests. Only on Linux has each thread a priority of its own; elsewhere, this would slow down
// the whole process.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
parentPort?.on('message', (body: Uint8Array) => void probe(Buffer.from(body.buffer)));
// Loads the parsers before the first file, so that the time limit for a file doesn't include them.
await Promise.all([import('mediabunny'), import('file-type'), import('image-size')]);
parentPort?.postMessage('ready');

async function probe(body: Buffer): Promise<void> {
  let response: ProbeResponse;
  try {
    response = { properties: await readMedia(body) };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    response = { problem: error.message };
  }
  parentPort?.postMessage(response);
}
