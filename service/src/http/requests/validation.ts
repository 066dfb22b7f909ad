import { schemas } from '@trueward/protocol';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import type { FastifyInstance, FastifySchemaValidationError } from 'fastify';
import { parseInstant } from '../../platform/instant.ts';

/**
 * Validates as the contract says: bodies exactly, without dropping members or turning "5" into 5;
 * addresses carry text only, so their values are converted.
 */
export function addValidation(app: FastifyInstance): void {
  const body = compiler(false);
  const address = compiler(true);
  for (const schema of schemas) app.addSchema(schema);
  app.setValidatorCompiler<object>(({ schema, httpPart }) =>
    (httpPart === 'body' ? body : address).compile(schema),
  );
  // Answers are made by typed code; a second description would only cost time and could drop members.
  app.setSerializerCompiler(() => JSON.stringify);
}

/** Whether a body is as its schema says; if not, `errors` tells why, until the next call. */
interface Validate {
  (body: unknown): boolean;
  errors?: FastifySchemaValidationError[] | null;
}

/** For bodies that are not checked by the route itself; after {@link addValidation}. */
export function compileBody(app: FastifyInstance, schema: object): Validate {
  const compile = app.validatorCompiler;
  if (!compile) throw new Error('Bodies cannot be checked before addValidation.');
  return compile({ schema, method: 'POST', url: '', httpPart: 'body' }) as Validate;
}

function compiler(coerceTypes: boolean): Ajv {
  // Ten errors are enough to help; the rest would only cost the service time.
  const ajv = new Ajv({
    allErrors: !coerceTypes,
    coerceTypes,
    useDefaults: true,
    strict: false,
    discriminator: false,
  });
  addFormats.default(ajv);
  // Its own format accepts leap seconds and offsets without minutes, which `Date` cannot parse.
  ajv.addFormat('date-time', (text: string) => parseInstant(text) !== undefined);
  for (const schema of schemas) ajv.addSchema(schema);
  return ajv;
}
