import type { FastifyInstance } from 'fastify';
import { ProblemError } from '../problems/problem.ts';

/** The schemas nest 8 levels deep at most. Deeper bodies could overflow the stack when they are stored as JSON. */
const mostLevels = 32;

/** Reads bodies as JSON. Beacons come as text/plain, because that spares a page the preflight. */
export function addJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    ['application/json', 'text/plain'],
    { parseAs: 'string' },
    async (_request: unknown, text: string) => parseJson(text),
  );
}

/**
 * Reads a body.
 *
 * @throws ProblemError `malformed_json`, or `invalid_request` for text that cannot be stored and for
 *   nesting of more than {@link mostLevels} levels.
 */
function parseJson(text: string): unknown {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new ProblemError('malformed_json', 'The body is not valid JSON.');
  }
  // Check the depth first: the pointer into a body of 30,000 levels would be as long as the body.
  if (mayBeDeeper(text, mostLevels) && isDeeper(body, mostLevels))
    throw new ProblemError(
      'invalid_request',
      `The body nests objects and arrays more than ${mostLevels} levels deep; send a flatter one.`,
    );
  const pointer = mayBeUnstorable(text) ? findUnstorableText(body) : undefined;
  if (pointer !== undefined) {
    throw new ProblemError('invalid_request', 'The body is not valid.', {
      errors: [{ pointer, message: 'holds a character that is not allowed in text' }],
    });
  }
  return body;
}

/** Refuses addresses with text that the database cannot hold, as `%00`, before they come near it. */
export function addAddressCheck(app: FastifyInstance): void {
  app.addHook('preValidation', async ({ params, query }) => {
    if (findUnstorableText(params) !== undefined)
      throw new ProblemError('not_found', 'There is nothing at this address.');
    const pointer = findUnstorableText(query);
    if (pointer === undefined) return;
    throw new ProblemError('invalid_request', 'The querystring is not valid.', {
      errors: [{ pointer, message: 'holds a character that is not allowed in text' }],
    });
  });
}

/**
 * Finds a string that PostgreSQL cannot store (U+0000, an unpaired surrogate) in a parsed body and
 * hands back the JSON pointer to it. One such string would otherwise fail a whole group commit.
 *
 * Walks without recursion: how deep a body is nested is up to the client.
 */
export function findUnstorableText(value: unknown): string | undefined {
  for (const visited of walk(value)) {
    const { name, value: found } = visited;
    if (!isStorable(name) || (typeof found === 'string' && !isStorable(found)))
      return pointerTo(visited);
  }
  return undefined;
}

/** Whether objects and arrays are nested more than `most` levels deep. */
function isDeeper(value: unknown, most: number): boolean {
  for (const { value: found, depth } of walk(value))
    if (depth >= most && typeof found === 'object' && found !== null) return true;
  return false;
}

/** A quick look at the JSON text: only escapes can produce such strings, so most bodies need no walk. */
const mayBeUnstorable = (json: string): boolean => /\\u(?:0000|d[89a-f])/i.test(json);

/** A quick look at the JSON text: what opens fewer objects and arrays is not nested deeper. */
function mayBeDeeper(json: string, most: number): boolean {
  let opened = 0;
  for (const bracket of ['{', '['])
    for (let at = json.indexOf(bracket); at !== -1; at = json.indexOf(bracket, at + 1))
      if ((opened += 1) > most) return true;
  return false;
}

/** A value in a body, and where it is. */
interface Visited {
  name: string;
  value: unknown;
  depth: number;
  parent: Visited | undefined;
}

/** Depth first; the children of a value come after it has been handed out. */
function* walk(root: unknown): Generator<Visited> {
  const waiting: Visited[] = [{ name: '', value: root, depth: 0, parent: undefined }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    yield next;
    const { value, depth } = next;
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, inner] of Object.entries(value).toReversed())
      waiting.push({ name, value: inner, depth: depth + 1, parent: next });
  }
}

function pointerTo(visited: Visited): string {
  const names: string[] = [];
  for (let at: Visited | undefined = visited; at?.parent; at = at.parent) names.unshift(at.name);
  return names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

const isStorable = (text: string): boolean => !text.includes('\0') && !/\p{Surrogate}/u.test(text);
