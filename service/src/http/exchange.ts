/**
 * What checks need of a request and of its answer. Fastify's have it, and so do those of the hot
 * path, which has no Fastify.
 */

import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';

export interface Asker {
  readonly id: string;
  /** The address that it came from. */
  readonly ip: string;
  readonly headers: IncomingHttpHeaders;
  readonly log: Pick<FastifyBaseLogger, 'warn'>;
}

export interface AnswerHeaders {
  getHeader(name: string): unknown;
  header(name: string, value: string | number): unknown;
}
