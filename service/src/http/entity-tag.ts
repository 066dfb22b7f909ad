import type { FastifyRequest } from 'fastify';
import type { IfMatch } from '../resource/manage.ts';

/** The revision of an object as a strong entity tag. */
export const toEntityTag = (revision: number): string => `"${revision}"`;

/** The condition of the `If-Match` header (RFC 9110, 13.1.1); undefined when there is none. */
export function readIfMatch(request: FastifyRequest): IfMatch {
  const header = request.headers['if-match'];
  if (header === undefined || header.trim() === '*') return undefined;
  const tags = header.split(',').map((tag) => tag.trim());
  return (revision) => tags.includes(toEntityTag(revision));
}
