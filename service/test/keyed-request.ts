import type { FastifyRequest } from 'fastify';

export interface Content {
  method?: string;
  url?: string;
  body?: object;
}

/** Creates a request with an idempotency key. */
export const createKeyedRequest = (
  key: string,
  { method = 'POST', url = '/a', body = {} }: Content = {},
): FastifyRequest =>
  ({ method, url, body, headers: { 'idempotency-key': key } }) as unknown as FastifyRequest;
