/** Request line and headers of a message that can be read in one way only. */
export interface Head {
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
/** RFC 9110, section 5.5: neither a control character nor a blank at its end. */
const headerValue = /^[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?$/;
/** They change where a message ends, or what is due before its answer. */
const meddling = ['transfer-encoding', 'expect', 'upgrade', 'trailer'];

/**
 * Reads the head of a message that came in one piece and is plain: HTTP/1.1 with a host, no header
 * twice, a length in digits or no body. Anything else, valid or not, gives undefined and is for
 * `node:http`: where two readers find two ends of one message, another can be smuggled in between
 * (RFC 9112, section 11.2).
 */
export function readHead(chunk: Buffer): Head | undefined {
  const text = chunk.toString('latin1', 0, longestHead);
  const headEnd = text.indexOf('\r\n\r\n');
  let lineEnd = text.indexOf('\r\n');
  const asked = headEnd < 0 ? null : requestLine.exec(text.slice(0, lineEnd));
  if (!asked) return undefined;
  const headers: Record<string, string> = {};
  while (lineEnd < headEnd) {
    const lineStart = lineEnd + 2;
    lineEnd = text.indexOf('\r\n', lineStart);
    const colon = text.indexOf(':', lineStart);
    if (colon < 0 || colon > lineEnd) return undefined;
    const name = nameOf(text.slice(lineStart, colon));
    const value = text.slice(text.charAt(colon + 1) === ' ' ? colon + 2 : colon + 1, lineEnd);
    if (name === undefined || name in headers || !headerValue.test(value)) return undefined;
    headers[name] = value;
  }
  const { host, connection = 'keep-alive', 'content-length': length = '0' } = headers;
  if (host === undefined || !/^(keep-alive|close)$/i.test(connection)) return undefined;
  if (!/^\d{1,10}$/.test(length)) return undefined;
  if (meddling.some((name) => name in headers)) return undefined;
  const bodyStart = headEnd + 4;
  const [, method = '', path = ''] = asked;
  return { method, path, headers, bodyStart, end: bodyStart + Number(length) };
}

/** Few names come with nearly every request: to check and write them small once is enough. */
const names = new Map<string, string>();
const mostNames = 200;

/** Undefined for what is no name, or one that every object has. */
function nameOf(sent: string): string | undefined {
  const known = names.get(sent);
  if (known !== undefined) return known;
  const name = sent.toLowerCase();
  if (!token.test(name) || name in Object.prototype) return undefined;
  if (names.size < mostNames) names.set(sent, name);
  return name;
}
