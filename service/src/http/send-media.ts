import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { readRange } from './media-range.ts';

/** A file that is sent to every page that asks. */
interface SentFile {
  type: string;
  bytes: number;
  /** Both ends are included; absent: all of it. */
  read(range?: { start: number; end: number }): Promise<Readable>;
  /** What says how it may be kept and what it may do. */
  headers: Record<string, string>;
}

/** Sends a file, or the part that a `Range` header asks for (RFC 9110, 14). */
export async function sendMedia(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, bytes, read, headers }: SentFile,
): Promise<FastifyReply> {
  void reply.headers({
    ...headers,
    'content-type': type,
    'accept-ranges': 'bytes',
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
  });
  const range = readRange(request.headers.range, bytes);
  if (range === 'unsatisfiable') {
    return reply
      .code(416)
      .header('content-range', `bytes */${bytes}`)
      .header('content-length', 0)
      .send();
  }
  if (range === 'all') return reply.header('content-length', bytes).send(await read());
  return reply
    .code(206)
    .header('content-range', `bytes ${range.start}-${range.end}/${bytes}`)
    .header('content-length', range.end - range.start + 1)
    .send(await read(range));
}
