import { schemas } from '@trueward/protocol';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import type { FastifyInstance, FastifySchemaValidationError } from 'fastify';
import { parseInstant } from '../platform/time.ts';
import { ProblemError } from './problem.ts';

/**
 * Schemas nest at most 8 levels deep. Much deeper bodies could overflow the stack when they are serialized for storage.
 */
const maxDepth = 32;

/** Parses bodies as JSON, including `text/plain` bodies. Beacons use this type to avoid a preflight request. */
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
 * @throws ProblemError `malformed_json`, or `invalid_request` for text that cannot be stored or for more than {@link
 * maxDepth} levels of nesting.
 */
function parseJson(text: string): unknown {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new ProblemError('malformed_json', 'The body is not valid JSON.');
  }
  // The depth is checked first, because a pointer into a body nested 30,000 levels deep would be as long as the body.
  if (mightExceedDepth(text, maxDepth) && exceedsDepth(body, maxDepth))
    throw new ProblemError(
      'invalid_request',
      `The body nests objects and arrays more than ${maxDepth} levels deep; flatten it.`,
    );
  const pointer = mightContainUnstorableText(text) ? findUnstorableText(body) : undefined;
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
    throw new ProblemError('invalid_request', 'The query string is not valid.', {
      errors: [{ pointer, message: 'contains a character that is not allowed in text' }],
    });
  });
}

/**
 * Finds a string that PostgreSQL cannot store, because it contains U+0000 or an unpaired surrogate. Returns its JSON
 * pointer. If such a string were stored, it would cause an entire group commit to fail.
 *
 * Iterative instead of recursive, because a client can send an arbitrarily deeply nested body.
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
function exceedsDepth(value: unknown, max: number): boolean {
  for (const { value: found, depth } of visitValues(value))
    if (depth >= max && typeof found === 'object' && found !== null) return true;
  return false;
}

/**
 * A cheap precheck of the JSON text, so that most bodies don't have to be traversed. Only escapes can produce
 * unstorable strings.
 */
const mightContainUnstorableText = (json: string): boolean => /\\u(?:0000|d[89a-f])/i.test(json);

/** A cheap precheck of the JSON text. The depth cannot exceed the number of opening brackets. */
function mightExceedDepth(json: string, max: number): boolean {
  let bracketCount = 0;
  for (const bracket of ['{', '['])
    for (let at = json.indexOf(bracket); at !== -1; at = json.indexOf(bracket, at + 1))
      if ((bracketCount += 1) > max) return true;
  return false;
}

/** A value in a body, and its location. */
interface VisitedValue {
  name: string;
  value: unknown;
  depth: number;
  parent: VisitedValue | undefined;
}

/** Visits all values depth first, parents before their children. */
function* visitValues(root: unknown): Generator<VisitedValue> {
  const stack: VisitedValue[] = [{ name: '', value: root, depth: 0, parent: undefined }];
  for (let next = stack.pop(); next; next = stack.pop()) {
    yield next;
    const { value, depth } = next;
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, inner] of Object.entries(value).toReversed())
      stack.push({ name, value: inner, depth: depth + 1, parent: next });
  }
}

function formatPointer(visited: VisitedValue): string {
  const names: string[] = [];
  for (let at: VisitedValue | undefined = visited; at?.parent; at = at.parent)
    names.unshift(at.name);
  return names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

const isStorable = (text: string): boolean => !text.includes('\0') && !/\p{Surrogate}/u.test(text);

/**
 * Validates requests against the schemas. Bodies are validated strictly, without dropping members or coercing "5" to 5.
 * URL parameters are coerced, because they are always strings.
 */
export function addValidation(app: FastifyInstance): void {
  const bodyCompiler = createCompiler(false);
  const urlCompiler = createCompiler(true);
  for (const schema of schemas) app.addSchema(schema);
  app.setValidatorCompiler<object>(({ schema, httpPart }) =>
    (httpPart === 'body' ? bodyCompiler : urlCompiler).compile(schema),
  );
  // Responses are not validated, because typed code creates them. Validation would take time and could drop fields.
  app.setSerializerCompiler(() => JSON.stringify);
}

/** Returns whether a body matches its schema. If not, `errors` contains the reasons until the next call. */
interface Validate {
  (body: unknown): boolean;
  errors?: FastifySchemaValidationError[] | null;
}

/** Compiles a schema for bodies that the route does not validate. Must be called after {@link addValidation}. */
export function compileBody(app: FastifyInstance, schema: object): Validate {
  const compile = app.validatorCompiler;
  if (!compile) throw new Error('Call addValidation before compileBody.');
  return compile({ schema, method: 'POST', url: '', httpPart: 'body' }) as Validate;
}

function createCompiler(coerceTypes: boolean): Ajv {
  // Collects all errors in a body, but only the first error in a URL.
  const ajv = new Ajv({
    allErrors: !coerceTypes,
    coerceTypes,
    useDefaults: true,
    strict: false,
    discriminator: false,
  });
  addFormats.default(ajv);
  // The built-in format accepts leap seconds and offsets without minutes, which `Date` cannot parse.
  ajv.addFormat('date-time', (text: string) => parseInstant(text) !== undefined);
  for (const schema of schemas) ajv.addSchema(schema);
  return ajv;
}
