import type { Problem } from '../../protocol/wire.ts';
import type { Clock } from '../platform/clock.ts';
import { parseRetryAfter } from './retry-after.ts';
import type { Answer, Guard } from './service-client.ts';

/**
 * Whether `value` is an object whose named members have the type of these examples; an array is one
 * of objects.
 */
export const hasShape = (value: unknown, shape: Record<string, unknown>): boolean =>
  value instanceof Object &&
  Object.entries(shape).every(([name, example]) => {
    const member = (value as Record<string, unknown>)[name];
    return Array.isArray(example)
      ? Array.isArray(member) && member.every((item) => item instanceof Object)
      : typeof member === typeof example;
  });

const isProblem = (body: unknown): body is Problem => hasShape(body, { code: '', status: 0 });

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON, so not ours: the caller sees that by the missing shape.
    return undefined;
  }
};

/** Sorts an answer that came over the network. A captive portal says 200 with a page of its own. */
export function classify<T>(
  response: { status: number; headers: Headers; text: string },
  isExpected: Guard<T>,
  clock: Clock,
): Answer<T> {
  const { status, headers } = response;
  if (status >= 500 || [408, 425, 429].includes(status)) {
    const retryAfterMs = parseRetryAfter(headers.get('retry-after'), clock.now());
    return { kind: 'retry', status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  }
  const body = parse(response.text);
  if (status >= 200 && status < 300 && isExpected(body)) return { kind: 'ok', body };
  if (status >= 400 && isProblem(body)) return { kind: 'refused', problem: body };
  // A proxy before the service may refuse a large body without knowing our problem documents.
  if (status === 413) return { kind: 'refused', problem: { code: 'body_too_large' } };
  return { kind: 'unreachable', cause: 'foreign_answer' };
}

/** One word for why there is no body, for people and diagnostics. */
export const reasonOf = (answer: Exclude<Answer<unknown>, { kind: 'ok' }>): string =>
  answer.kind === 'refused'
    ? answer.problem.code
    : answer.kind === 'retry'
      ? `http_${answer.status}`
      : answer.cause;
