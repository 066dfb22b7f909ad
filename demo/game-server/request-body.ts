import type { IncomingMessage } from 'node:http';

/** Maximum size of a webhook body, in bytes. */
const maxBytes = 65_536;

/**
 * Reads the raw body, because a webhook's signature covers its bytes. Resolves to `undefined` if the body is too large.
 */
export async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
