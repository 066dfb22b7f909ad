import { createHash } from 'node:crypto';
import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { DomainError } from '../platform/domain-error.ts';
import { readMedia } from './read-media.ts';
import type { ProbeResponse } from './probe-thread.ts';

// The worker that `probe-thread.ts` starts. It reads one file at a time.

// Files wait for players' requests. Only on Linux has each thread a priority of its own; elsewhere, this would slow down
// the whole process.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
parentPort?.on('message', (body: Uint8Array) => void probe(body));
// Loads the parsers before the first file, so that the time limit for a file doesn't include them.
await Promise.all([import('mediabunny'), import('file-type'), import('image-size')]);
parentPort?.postMessage('ready');

async function probe(body: Uint8Array): Promise<void> {
  let response: ProbeResponse;
  try {
    const file = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    const properties = await readMedia(file);
    response = { properties, body, sha256: createHash('sha256').update(file).digest('hex') };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    response = { problem: error.message };
  }
  parentPort?.postMessage(response, 'body' in response ? [body.buffer as ArrayBuffer] : []);
}
