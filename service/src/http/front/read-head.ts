import { remember } from '../../platform/remember.ts';

/** Request line and headers of a message that can be read in one way only. */
export interface Head {
  bytes: Buffer;
  method: string;
  /** As it was sent, with its query. */
  path: string;
  /** By names in small letters; each came once. */
  headers: Readonly<Record<string, string>>;
  /** Where the body begins, in bytes. */
  bodyStart: number;
  /** Where the message ends, in bytes. */
  end: number;
}

/** As `node:http` has it (`--max-http-header-size`). */
const longestHead = 16 * 1_024;

const requestLine = /^([A-Z]{3,7}) (\/[!-~]*) HTTP\/1\.1$/;
/** A token by RFC 9110, section 5.6.2. */
const token = /^[\w!#$%&'*+.^`|~-]+$/;
/** Lines without control characters (RFC 9110, section 5.5), in a form that is tried in one way only. */
const legible = /^[\t -~\x80-\xff]*(?:\r\n[\t -~\x80-\xff]*)*$/;
/**
 * They change where a message ends, what is due before its answer, or whether the connection goes on
 * after it: `node:http` takes `Proxy-Connection` for `Connection`.
 */
const meddling = new Set(['transfer-encoding', 'expect', 'upgrade', 'trailer', 'proxy-connection']);

/**
 * Reads the head of a message that came in one piece and is plain: HTTP/1.1 with a host, no header
 * twice, a length in digits or no body. Anything else, valid or not, gives undefined and is for
 * `node:http`: where two readers find two ends of one message, another can be smuggled in between
 * (RFC 9112, section 11.2).
 *
 * @param last - the head before it on the same connection: one client's are mostly the same
 */
export function readHead(chunk: Buffer, last?: Head): Head | undefined {
  if (last !== undefined && startsWith(chunk, last.bytes)) return last;
  const text = chunk.toString('latin1', 0, longestHead);
  const headEnd = text.indexOf('\r\n\r\n');
  let lineEnd = text.indexOf('\r\n');
  if (headEnd < 0 || !legible.test(text.slice(0, headEnd))) return undefined;
  const asked = lineOf(text.slice(0, lineEnd));
  if (!asked) return undefined;
  const headers: Record<string, string> = {};
  while (lineEnd < headEnd) {
    const lineStart = lineEnd + 2;
    lineEnd = text.indexOf('\r\n', lineStart);
    const colon = text.indexOf(':', lineStart);
    if (colon < 0 || colon > lineEnd) return undefined;
    const name = nameOf(text.slice(lineStart, colon));
    const valueStart = text.charCodeAt(colon + 1) === blank ? colon + 2 : colon + 1;
    if (name === undefined || name in headers || valueStart >= lineEnd) return undefined;
    if (text.charCodeAt(valueStart) <= blank || text.charCodeAt(lineEnd - 1) <= blank)
      return undefined;
    headers[name] = text.slice(valueStart, lineEnd);
  }
  const { host, connection = 'keep-alive', 'content-length': length = '0' } = headers;
  if (host === undefined || !/^(keep-alive|close)$/i.test(connection)) return undefined;
  if (!/^\d{1,10}$/.test(length)) return undefined;
  const bodyStart = headEnd + 4;
  const { method, path } = asked;
  const end = bodyStart + Number(length);
  const bytes = Buffer.from(chunk.subarray(0, bodyStart));
  return { bytes, method, path, headers, bodyStart, end };
}

const startsWith = (chunk: Buffer, start: Buffer): boolean =>
  chunk.length >= start.length && chunk.compare(start, 0, start.length, 0, start.length) === 0;

const blank = 32;

/** What comes with nearly every request is checked once; so many texts are remembered at most. */
const mostKnown = 200;

/** Undefined for what is no name, one that is for `node:http`, or one that every object has. */
const nameOf = remember((sent): string | undefined => {
  const name = sent.toLowerCase();
  return token.test(name) && !meddling.has(name) && !(name in Object.prototype) ? name : undefined;
}, mostKnown);

const lineOf = remember((sent): Pick<Head, 'method' | 'path'> | undefined => {
  const [, method, path] = requestLine.exec(sent) ?? [];
  return method === undefined || path === undefined ? undefined : { method, path };
}, mostKnown);
