import { schemas } from '@trueward/protocol';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import type { FastifyInstance, FastifySchemaValidationError } from 'fastify';
import { parseInstant } from '../../platform/instant.ts';

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
