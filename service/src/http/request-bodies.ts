import { isUtf8 } from 'node:buffer';
import { randomInt } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { describeBodyLimits, ProblemError } from './problem.ts';

/**
 * Schemas nest at most 8 levels deep. Much deeper bodies could overflow the stack when they are serialized for storage.
 */
const maxDepth = 32;
/**
 * Maximum number of different member names in a body. Schemas have at most a few dozen. The parser takes ten times as
 * long for members with new names as for others of the same size, so a body is rejected before it is parsed.
 */
export const maxNames = 500;
/** Minimum size of a member: two quotes, a colon, a value and a comma. */
const minMemberBytes = 5;
/**
 * A body may have one value (member or item) per this many bytes of the largest body that its route accepts. The parser
 * takes up to 30 times as long for many short strings as for one long string. With the largest lists that the schemas
 * admit, bodies have about half as many values.
 */
const bytesPerValue = 16;
/** Maximum size of a body in which unstorable text is located, because the search costs more than parsing. */
const maxLocatedBytes = 8_192;

/** Parses bodies as JSON, including `text/plain` bodies. Beacons use this type to avoid a preflight request. */
export function addJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    ['application/json', 'text/plain'],
    { parseAs: 'buffer' },
    (
      { routeOptions: { bodyLimit } }: FastifyRequest,
      bytes: Buffer,
      done: (error: Error | null, body?: unknown) => void,
    ) => {
      let body: unknown;
      // A client that sends no body may still declare its type.
      if (bytes.length === 0) return done(null, {});
      try {
        body = parseJson(bytes, bodyLimit / bytesPerValue);
      } catch (error) {
        return done(error as Error);
      }
      done(null, body);
    },
  );
}

/** A request without a body is like one with an empty object: operations whose members are all optional need none. */
export function addEmptyBody(app: FastifyInstance): void {
  app.addHook('preValidation', (request, _reply, done) => {
    const { schema } = request.routeOptions;
    if (schema?.body !== undefined && (request.body === undefined || request.body === null))
      request.body = {};
    done();
  });
}

/** Rejects bodies that are declared to be too large, before anything else is done for the request. */
export function addSizeCheck(app: FastifyInstance): void {
  app.addHook('onRequest', ({ headers, routeOptions: { bodyLimit } }, reply, done) => {
    if (Number(headers['content-length'] ?? 0) <= bodyLimit) return done();
    // The client would otherwise keep sending.
    void reply.header('connection', 'close');
    throw new ProblemError('body_too_large', describeBodyLimits);
  });
}

/**
 * Rejects bodies that are compressed or declared in another charset, before they are read. Must be called after
 * authentication, so that only clients with a key learn what the service accepts.
 */
export function addEncodingCheck(app: FastifyInstance): void {
  app.addHook('onRequest', ({ headers }, _reply, done) => {
    const {
      'content-encoding': encoding = '',
      'transfer-encoding': transfer = 'chunked',
      'content-type': type = '',
    } = headers;
    const [name, value] = /^chunked$/i.test(transfer)
      ? ['Content-Encoding', encoding]
      : ['Transfer-Encoding', transfer];
    if (value.split(',').some((coding) => !/^(?:identity)?$/i.test(coding.trim()))) {
      throw new ProblemError(
        'unsupported_media_type',
        `The body has the ${name} ${value}; send it uncompressed.`,
      );
    }
    for (const [, charset = ''] of type.matchAll(charsetPattern)) {
      if (/^utf-?8$/i.test(charset)) continue;
      throw new ProblemError(
        'unsupported_media_type',
        `The body is declared as ${charset}; send it as UTF-8.`,
      );
    }
    done();
  });
}

const charsetPattern = /;[ \t]*charset[ \t]*=[ \t]*"?([^\s";]+)/gi;

/**
 * Asks a client that has sent only the headers (`Expect: 100-continue`) for the body, after all hooks for the headers. If
 * they refuse the request, the connection is closed, because the client may send the body or another request. Must be
 * called before these hooks are added.
 */
export function addContinue(app: FastifyInstance): void {
  app.addHook('onRequest', ({ headers: { expect } }, reply, done) => {
    if (expect !== undefined) void reply.header('connection', 'close');
    done();
  });
  app.addHook('preParsing', ({ headers: { expect }, raw }, reply, payload, done) => {
    if (expect !== undefined) {
      reply.removeHeader('connection');
      if (raw.httpVersion === '1.1') reply.raw.writeContinue();
    }
    done(null, payload);
  });
}

/**
 * Parses a body.
 *
 * @throws ProblemError `malformed_json`, or `invalid_request` for text that cannot be stored, for more than {@link
 * maxDepth} levels of nesting, for more than {@link maxNames} names, or for more values than this.
 */
function parseJson(bytes: Buffer, maxValues: number): unknown {
  if (!isUtf8(bytes)) {
    // Otherwise, replacement characters would be stored.
    throw new ProblemError('malformed_json', 'The body is not valid UTF-8.');
  }
  const { depth, names, values, isStorable: canBeStored } = scanJson(bytes);
  if (names > maxNames)
    throw new ProblemError(
      'invalid_request',
      `The objects in the body have more than ${maxNames} different member names; see the schema of the request.`,
    );
  if (depth > maxDepth)
    throw new ProblemError(
      'invalid_request',
      `The body nests objects and arrays more than ${maxDepth} levels deep; flatten it.`,
    );
  if (values > maxValues)
    throw new ProblemError(
      'invalid_request',
      `The body has ${values} members and items; send at most ${maxValues} in one request.`,
    );
  let body: unknown;
  try {
    // Some servers begin a text with a byte order mark, which a parser may ignore (RFC 8259, 8.1).
    body = JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, ''));
  } catch {
    throw new ProblemError('malformed_json', 'The body is not valid JSON.');
  }
  if (canBeStored) return body;
  const pointer = bytes.length <= maxLocatedBytes ? findUnstorableText(body) : undefined;
  const message = 'contains a character that is not allowed in text';
  throw pointer === undefined
    ? new ProblemError('invalid_request', `The body ${message}: U+0000 or half of a pair.`)
    : new ProblemError('invalid_request', 'The body is not valid.', {
        errors: [{ pointer, message }],
      });
}

const [quote, backslash, letterU, openBracket, closeBracket, openBrace, closeBrace, colon, comma] =
  Buffer.from('"\\u[]{}:,') as unknown as readonly number[];
/** Adds a byte or a UTF-16 code unit to a hash. */
const mixHash = (hash: number, value = 0): number =>
  Math.imul(hash ^ value, 0x01000193) ^ (hash >>> 15);

/** Differs between processes, so that nobody can find many names with the same hash. */
const hashSeed = randomInt(2 ** 31);

/**
 * Measures a JSON text before it is parsed, in one pass: how deep it nests, how many different names its members have,
 * how many values it separates by commas, and whether its escapes produce only text that the database can store. In
 * valid UTF-8, only escapes can produce other text. Names are counted up to {@link maxNames}, and only in texts that are
 * long enough for so many.
 */
export function scanJson(bytes: Buffer): {
  depth: number;
  names: number;
  values: number;
  isStorable: boolean;
} {
  const names = new Set<number>();
  const countsNames = bytes.length > minMemberBytes * maxNames;
  let [hash, values] = [0, 1];
  let [depth, deepest, isInString, isStorableText] = [0, 0, false, true];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) {
      isInString = !isInString;
      if (isInString) hash = hashSeed;
    } else if (isInString) {
      if (countsNames) hash = mixHash(hash, byte);
      if (byte !== backslash) continue;
      at += 1;
      hash = mixHash(hash, bytes[at]);
      if (bytes[at] !== letterU) continue;
      const unit = readUnit(bytes, at);
      hash = mixHash(hash, unit);
      if (unit === 0 || isLowSurrogate(unit)) isStorableText = false;
      else if (isHighSurrogate(unit)) {
        const isPair =
          bytes[at + 5] === backslash &&
          bytes[at + 6] === letterU &&
          isLowSurrogate(readUnit(bytes, at + 6));
        if (isPair) at += 6;
        else isStorableText = false;
      }
    } else if (byte === openBracket || byte === openBrace) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (byte === closeBracket || byte === closeBrace) depth -= 1;
    else if (byte === comma) values += 1;
    else if (byte === colon && countsNames) {
      // The last string was a name.
      names.add(hash);
      if (names.size > maxNames) break;
    }
  }
  return { depth: deepest, names: names.size, values, isStorable: isStorableText };
}

/** Reads the four hexadecimal digits after the `u` at this position. In invalid JSON, the result means nothing. */
function readUnit(bytes: Buffer, at: number): number {
  let unit = 0;
  for (let next = at + 1; next <= at + 4; next += 1) {
    const digit = bytes[next] ?? 0;
    unit = unit * 16 + (digit <= digitNine ? digit - digitZero : (digit & 0x5f) - letterA + 10);
  }
  return unit;
}

const [digitZero, digitNine, letterA] = Buffer.from('09A') as unknown as readonly [
  number,
  number,
  number,
];

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000;

/** Rejects URLs with text that the database cannot store, such as `%00`. */
export function addUrlCheck(app: FastifyInstance): void {
  app.addHook('preValidation', ({ url, params, query }, _reply, done) => {
    // Only percent-encoding can produce unstorable text.
    if (!url.includes('%')) return done();
    if (findUnstorableText(params) !== undefined)
      throw new ProblemError('not_found', 'There is no such endpoint.');
    const pointer = findUnstorableText(query);
    if (pointer === undefined) return done();
    throw new ProblemError('invalid_request', 'The query string is not valid.', {
      errors: [{ pointer, message: 'contains a character that is not allowed in text' }],
    });
  });
}

/**
 * Finds a string that PostgreSQL cannot store, because it contains U+0000 or an unpaired surrogate. Returns its JSON
 * pointer. If such a string were stored, it would cause an entire group commit to fail.
 */
export function findUnstorableText(value: unknown): string | undefined {
  for (const visited of visitValues(value)) {
    const { name, value: found } = visited;
    if (!isStorable(name) || (typeof found === 'string' && !isStorable(found)))
      return formatPointer(visited);
  }
  return undefined;
}

/** A value in a body, and its location. */
interface VisitedValue {
  name: string;
  value: unknown;
  parent: VisitedValue | undefined;
}

/** Visits all values depth first, parents before their children. */
function* visitValues(root: unknown): Generator<VisitedValue> {
  const stack: VisitedValue[] = [{ name: '', value: root, parent: undefined }];
  for (let next = stack.pop(); next; next = stack.pop()) {
    yield next;
    const { value } = next;
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, inner] of Object.entries(value).toReversed())
      stack.push({ name, value: inner, parent: next });
  }
}

function formatPointer(visited: VisitedValue): string {
  const names: string[] = [];
  for (let at: VisitedValue | undefined = visited; at?.parent; at = at.parent)
    names.unshift(at.name);
  return names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

const isStorable = (text: string): boolean => !text.includes('\0') && !/\p{Surrogate}/u.test(text);
