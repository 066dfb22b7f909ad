import { STATUS_CODES } from 'node:http';
import { rememberLast } from '../../platform/remember.ts';
import type { PlainAnswer } from './plain-exchange.ts';

/** How an answer is told, beside what it says. */
interface Manner {
  isLast: boolean;
  /** How long the connection is kept for another request. */
  idleMs: number;
  nowMs: number;
}

/** An answer as it goes over the wire, a character for each byte. */
export function writeAnswer(answer: PlainAnswer, { isLast, idleMs, nowMs }: Manner): string {
  const { status, headers, body } = answer;
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
  for (const name in headers) head += `${name}: ${headers[name]}\r\n`;
  head += `content-length: ${body.length}\r\nDate: ${dateOf(Math.floor(nowMs / 1_000))}\r\n`;
  head += isLast
    ? 'Connection: close'
    : `Connection: keep-alive\r\nKeep-Alive: timeout=${idleMs / 1_000}`;
  return `${head}\r\n\r\n${body}`;
}

/** A header tells whole seconds: it is written once in each. */
const dateOf = rememberLast((second) => new Date(second * 1_000).toUTCString());
