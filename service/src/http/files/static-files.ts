import type { FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError } from '../problems/problem.ts';

/** Options of `@fastify/static` for routes that set their headers with `setHeaders`. */
export const fileOptions = {
  serve: false,
  cacheControl: false,
  dotfiles: 'ignore',
  index: false,
  // The folder may not exist yet, because it is created by the first upload.
  suppressWarning: true,
} as const;

/** Headers that describe the file in a response. */
const fileHeaders = [
  'accept-ranges',
  'cache-control',
  'content-encoding',
  'content-range',
  'etag',
  'last-modified',
];

/**
 * Handles requests that `@fastify/static` rejects. A path outside the folder is treated like a missing file. If a
 * precondition fails or a range is unsatisfiable, only the status and headers are sent, as media players expect.
 */
export function sendFileError(
  error: Error & { statusCode?: number; headers?: Record<string, string> },
  _request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { statusCode = 500, headers = {} } = error;
  if (statusCode === 400 || statusCode === 403)
    throw new ProblemError('not_found', 'The file does not exist.');
  if (statusCode !== 412 && statusCode !== 416) {
    // The file may be readable a second later, so caches must not store this response.
    for (const name of fileHeaders) void reply.removeHeader(name);
    throw error;
  }
  void reply.code(statusCode).headers(headers).send();
}
