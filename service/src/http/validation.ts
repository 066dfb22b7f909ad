import { schemas } from '@trueward/protocol';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import type { FastifyInstance, FastifySchemaValidationError } from 'fastify';
import { parseInstant } from '../platform/time.ts';

/** Returns whether a value matches its schema. If not, `errors` contains the reasons until the next call. */
interface Validate {
  (value: unknown): boolean;
  errors?: FastifySchemaValidationError[] | null;
}

/**
 * Validates requests against the schemas. Bodies are validated strictly, without dropping members or coercing "5" to 5.
 * URL parameters are coerced, because they are always strings.
 */
export function addValidation(app: FastifyInstance): void {
  const compileBody = createBodyCompiler();
  const compileUrl = createUrlCompiler();
  for (const schema of schemas) app.addSchema(schema);
  app.setValidatorCompiler<object>(({ schema, httpPart }) =>
    httpPart === 'body' ? compileBody(schema) : compileUrl(schema),
  );
  // Responses are not validated, because typed code creates them. Validation would take time and could drop fields.
  app.setSerializerCompiler(() => JSON.stringify);
}

/** Compiles a schema for bodies that the route does not validate. Must be called after {@link addValidation}. */
export function compileBody(app: FastifyInstance, schema: object): Validate {
  const compile = app.validatorCompiler;
  if (!compile) throw new Error('Call addValidation before compileBody.');
  return compile({ schema, method: 'POST', url: '', httpPart: 'body' }) as Validate;
}

/** Maximum number of values in an invalid body for which all errors are collected. */
const maxValues = 500;

/**
 * Creates a compiler for bodies. Validation ends at the first error. The validator checks a value's type first, then its
 * size, and only then its items, so that its time grows at most linearly with the part of a body that the schema admits.
 *
 * If an invalid body is small, it is validated once more to collect all its errors, so that a person can correct them at
 * once. In a large body, the errors alone could take a hundred times as long as the validation.
 */
function createBodyCompiler(): (schema: object) => Validate {
  const [first, all] = [createAjv({}), createAjv({ allErrors: true })];
  return (schema) => {
    const isValid = first.compile(schema);
    const validate: Validate = (body) => {
      if (isValid(body)) return true;
      validate.errors = isValid.errors ?? [];
      if (hasMoreValues(body, maxValues)) return false;
      // Compiled when it is first needed. Ajv returns the same function for the same schema from then on.
      const collect = all.compile(schema);
      if (!collect(body)) validate.errors = collect.errors ?? [];
      return false;
    };
    return validate;
  };
}

/** Creates a compiler for the parts of a URL and for headers. Integers are decimal digits: not `1e2`, `0x10` or ` 5`. */
function createUrlCompiler(): (schema: object) => Validate {
  const ajv = createAjv({ coerceTypes: true });
  return (schema) => {
    const isValid = ajv.compile(schema);
    const { properties = {} } = schema as { properties?: Record<string, { type?: string }> };
    const integers = Object.keys(properties).filter((name) => properties[name]?.type === 'integer');
    const validate: Validate = (values) => {
      // Checked first, because the validator replaces the text by its number.
      const name = integers.find((each) => !isDecimal((values as Record<string, unknown>)[each]));
      if (name === undefined && isValid(values)) return true;
      validate.errors = name === undefined ? (isValid.errors ?? []) : [describeInteger(name)];
      return false;
    };
    return validate;
  };
}

/** Whether a value is missing, or the text of an integer. */
const isDecimal = (value: unknown): boolean =>
  value === undefined || (typeof value === 'string' && /^-?[0-9]+$/.test(value));

/** The validation error of a parameter that is not an integer. */
const describeInteger = (name: string): FastifySchemaValidationError => ({
  keyword: 'type',
  instancePath: `/${name}`,
  schemaPath: `#/properties/${name}/type`,
  params: { type: 'integer' },
  message: 'must be integer',
});

function createAjv(options: { coerceTypes?: boolean; allErrors?: boolean }): Ajv {
  const ajv = new Ajv({ ...options, useDefaults: true, strict: false, discriminator: false });
  addFormats.default(ajv);
  // The built-in format accepts leap seconds and offsets without minutes, which `Date` cannot parse.
  ajv.addFormat('date-time', (text: string) => parseInstant(text) !== undefined);
  for (const schema of schemas) ajv.addSchema(schema);
  return ajv;
}

/** Whether a body contains more than `max` values, including objects and arrays. Visits at most that many. */
function hasMoreValues(body: unknown, max: number): boolean {
  const pending: unknown[] = [body];
  for (let visited = 0; pending.length > 0; visited += 1) {
    if (visited + pending.length > max) return true;
    const value = pending.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value) && value.length > max) return true;
    const members = Object.values(value);
    if (members.length > max) return true;
    pending.push(...members);
  }
  return false;
}
