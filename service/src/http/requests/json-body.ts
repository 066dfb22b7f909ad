import type { FastifyInstance } from 'fastify';
import { ProblemError } from '../problems/problem.ts';

/** Schemas nest at most 8 levels. Deeper bodies could overflow the stack when they are stored as JSON. */
const maxDepth = 32;

/** Parses bodies as JSON, including text/plain. Beacons have this type to avoid a preflight request. */
export function addJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    ['application/json', 'text/plain'],
    { parseAs: 'string' },
    (_request: unknown, text: string, done: (error: Error | null, body?: unknown) => void) => {
      let body: unknown;
      try {
        body = parseJson(text);
      } catch (error) {
        return done(error as Error);
      }
      done(null, body);
    },
  );
}

/**
 * Parses a body.
 *
 * @throws ProblemError `malformed_json`, or `invalid_request` for text that cannot be stored and for
 *   nesting of more than {@link maxDepth} levels.
 */
function parseJson(text: string): unknown {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new ProblemError('malformed_json', 'The body is not valid JSON.');
  }
  // The depth is checked first, because a pointer into a body nested 30,000 levels deep would be as long as the body.
  if (mightBeDeeper(text, maxDepth) && isDeeper(body, maxDepth))
    throw new ProblemError(
      'invalid_request',
      `The body nests objects and arrays more than ${maxDepth} levels deep; flatten it.`,
    );
  const pointer = mightBeUnstorable(text) ? findUnstorableText(body) : undefined;
  if (pointer !== undefined) {
    throw new ProblemError('invalid_request', 'The body is not valid.', {
      errors: [{ pointer, message: 'contains a character that is not allowed in text' }],
    });
  }
  return body;
}

/** Rejects URLs with text that the database cannot store, such as `%00`. */
export function addUrlCheck(app: FastifyInstance): void {
  app.addHook('preValidation', ({ url, params, query }, _reply, done) => {
    // Only percent-encoding can produce unstorable text.
    if (!url.includes('%')) return done();
    if (findUnstorableText(params) !== undefined)
      throw new ProblemError('not_found', 'There is no such endpoint.');
    const pointer = findUnstorableText(query);
    if (pointer === undefined) return done();
    throw new ProblemError('invalid_request', 'The querystring is not valid.', {
      errors: [{ pointer, message: 'contains a character that is not allowed in text' }],
    });
  });
}

/**
 * Finds a string that PostgreSQL cannot store, because it contains U+0000 or an unpaired surrogate. Returns its JSON
 * pointer. If such a string were stored, it would make a whole group commit fail.
 *
 * Does not use recursion, because a client can send a body of any depth.
 */
export function findUnstorableText(value: unknown): string | undefined {
  for (const visited of visitValues(value)) {
    const { name, value: found } = visited;
    if (!isStorable(name) || (typeof found === 'string' && !isStorable(found)))
      return formatPointer(visited);
  }
  return undefined;
}

/** Whether objects and arrays are nested more than `max` levels deep. */
function isDeeper(value: unknown, max: number): boolean {
  for (const { value: found, depth } of visitValues(value))
    if (depth >= max && typeof found === 'object' && found !== null) return true;
  return false;
}

/**
 * A cheap test on the JSON text, so that most bodies don't have to be traversed. Only escapes can produce unstorable
 * strings.
 */
const mightBeUnstorable = (json: string): boolean => /\\u(?:0000|d[89a-f])/i.test(json);

/** A cheap test on the JSON text. The depth cannot exceed the number of opening brackets. */
function mightBeDeeper(json: string, max: number): boolean {
  let opened = 0;
  for (const bracket of ['{', '['])
    for (let at = json.indexOf(bracket); at !== -1; at = json.indexOf(bracket, at + 1))
      if ((opened += 1) > max) return true;
  return false;
}

/** A value in a body, and its location. */
interface Visited {
  name: string;
  value: unknown;
  depth: number;
  parent: Visited | undefined;
}

/** Visits all values depth first, parents before their children. */
function* visitValues(root: unknown): Generator<Visited> {
  const stack: Visited[] = [{ name: '', value: root, depth: 0, parent: undefined }];
  for (let next = stack.pop(); next; next = stack.pop()) {
    yield next;
    const { value, depth } = next;
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, inner] of Object.entries(value).toReversed())
      stack.push({ name, value: inner, depth: depth + 1, parent: next });
  }
}

function formatPointer(visited: Visited): string {
  const names: string[] = [];
  for (let at: Visited | undefined = visited; at?.parent; at = at.parent) names.unshift(at.name);
  return names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

const isStorable = (text: string): boolean => !text.includes('\0') && !/\p{Surrogate}/u.test(text);
