import type { IncomingMessage } from 'node:http';

/** The largest body that a webhook may have. */
const largestBytes = 65_536;

/** The body as it came, which is what a webhook's signature covers; `undefined` when it is too large. */
export async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > largestBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
