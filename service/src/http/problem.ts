import { linePattern, problemStatus } from '@trueward/protocol';
import type { Problem } from '@trueward/protocol/wire';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { UnsupportedTokenVersionError } from '../decision/token.ts';
import { maxMediaBytes } from '../media/ingest-media.ts';
import { DomainError, type FieldError } from '../platform/domain-error.ts';
import { instantRule } from '../platform/time.ts';
import { UndecidedTimeError } from '../reward/early-events.ts';
import { isLockTimeout, isUnavailable } from '../store/database-errors.ts';
import { OverloadedError } from '../store/group-commit.ts';

type ProblemCode = Problem['code'];

export const describeBodyLimits = `The body is too large: the limit is 64 KiB, 256 KiB for events, ${maxMediaBytes / 1_048_576} MiB for media, and 4 KiB for signing in.`;

interface ProblemOptions {
  /** The invalid members of the request. A response contains only the first of many. */
  errors?: readonly FieldError[];
  /** Number of seconds to wait before retrying the request. */
  retryAfterS?: number;
  /** The balance, if it is not sufficient. */
  balance?: number;
}

/** An error that is sent to the client as a problem document. */
export class ProblemError extends Error {
  readonly code: ProblemCode;
  readonly options: ProblemOptions;
  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    super(detail);
    this.name = 'ProblemError';
    this.code = code;
    this.options = options;
  }
}

/** Converts any error to a problem. The problem for an unknown error exposes no internal details. */
function toProblemError(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  if (error instanceof DomainError) {
    const { code, message, errors } = error;
    return new ProblemError(code, message, errors.length > 0 ? { errors } : {});
  }
  if (error instanceof OverloadedError) {
    return new ProblemError('overloaded', error.message, { retryAfterS: error.retryAfterS });
  }
  if (isLockTimeout(error)) {
    const detail = 'Another database session has locked a row that this request needs to change.';
    return new ProblemError('unavailable', detail, { retryAfterS: 1 });
  }
  // This error is retryable, so clients retry until a process that runs a newer version responds. After a permanent
  // error, they would drop the events.
  if (error instanceof UnsupportedTokenVersionError) {
    return new ProblemError('unavailable', error.message, { retryAfterS: 5 });
  }
  if (error instanceof UndecidedTimeError) {
    return new ProblemError('unavailable', error.message, { retryAfterS: error.retryAfterS });
  }
  if (isUnavailable(error)) {
    return new ProblemError('unavailable', 'The database is unavailable.', { retryAfterS: 5 });
  }
  return (
    convertFastifyError(error) ??
    new ProblemError('internal', 'Internal error; you can retry the request.')
  );
}

/** An error response. */
interface ProblemResponse {
  document: Problem;
  headers: Record<string, string | number>;
  /** Whether the service failed unexpectedly. Such failures must be logged. */
  unexpected: boolean;
}

/** Returns the response for an error. */
export function toProblemResponse(error: unknown, requestId: string): ProblemResponse {
  const problem = toProblemError(error);
  const document = buildProblemDocument(problem, requestId);
  const { retryAfterS } = problem.options;
  return {
    document,
    headers: {
      // The charset is set here, because some responses bypass Fastify, which would otherwise add it.
      'content-type': 'application/problem+json; charset=utf-8',
      ...(retryAfterS === undefined ? {} : { 'retry-after': retryAfterS }),
      ...(document.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    },
    unexpected: document.status >= 500 && problem !== error,
  };
}

/** Builds the problem document (RFC 9457) for an error. */
function buildProblemDocument(
  { code, message, options }: ProblemError,
  requestId: string,
): Problem {
  return {
    type: `https://trueward.dev/problems/${code}`,
    title: formatTitle(code),
    status: problemStatus[code],
    detail: truncate(message, maxDetailLength),
    code,
    request_id: requestId,
    ...(options.balance === undefined ? {} : { balance: options.balance }),
    ...(options.errors ? { errors: boundErrors(options.errors) } : {}),
  };
}

/** Maximum number of errors in a response. */
export const maxErrors = 20;
const maxDetailLength = 1_000;
/** Maximum length of a pointer or a message. A pointer contains names that the client has chosen. */
const maxErrorTextLength = 500;
/** Maximum size of all errors in a response, as JSON. */
const maxErrorBytes = 12_288;

/** Bounds the errors, so that a response is small no matter how many members of a body are invalid. */
function boundErrors(errors: readonly FieldError[]): FieldError[] {
  let bytes = 0;
  return errors.slice(0, maxErrors).flatMap(({ pointer, message }) => {
    const error = {
      pointer: truncate(pointer, maxErrorTextLength),
      message: truncate(message, maxErrorTextLength),
    };
    bytes += Buffer.byteLength(JSON.stringify(error));
    return bytes <= maxErrorBytes ? [error] : [];
  });
}

const truncate = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`;

const formatTitle = (code: string): string =>
  code.charAt(0).toUpperCase() + code.slice(1).replaceAll('_', ' ');

function convertFastifyError(error: unknown): ProblemError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { validation, validationContext, code, statusCode } = error as FastifyError;
  if (validation) return createValidationProblem(validation, validationContext);
  switch (code) {
    case 'FST_ERR_MAX_PARAM_LENGTH':
    case 'FST_ERR_BAD_URL':
      return new ProblemError('not_found', 'There is no such endpoint.');
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ProblemError('body_too_large', describeBodyLimits);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ProblemError('unsupported_media_type', 'Send the body as application/json.');
    case 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE':
      // Only thrown for QUERY, which no endpoint supports.
      return new ProblemError('method_not_allowed', 'No endpoint supports this method.');
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new ProblemError('malformed_json', 'The body is not valid JSON.');
    default:
      return statusCode !== undefined && statusCode >= 400 && statusCode < 500
        ? new ProblemError('malformed_json', 'The request could not be read.')
        : undefined;
  }
}

/** Returns the problem for schema violations. */
function createValidationProblem(
  violations: NonNullable<FastifyError['validation']>,
  part = 'request',
): ProblemError {
  const errors = violations.slice(0, maxErrors).map(({ instancePath, params, keyword }) => ({
    pointer: instancePath + locateMember(keyword, params),
    message: describeViolation(keyword, params),
  }));
  const partName = partNames[part] ?? part;
  return new ProblemError('invalid_request', `The ${partName} is not valid.`, { errors });
}

/** What clients call the parts of a request that Fastify calls otherwise. */
const partNames: Readonly<Record<string, string>> = {
  querystring: 'query string',
  params: 'path',
  headers: 'header',
};

/** Returns the pointer from the parent object to a missing or unknown member. */
function locateMember(keyword: string, params: Record<string, unknown>): string {
  const name = keyword === 'required' ? params['missingProperty'] : params['additionalProperty'];
  return typeof name === 'string' ? `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}` : '';
}

/** Responds to every error with a problem document. Must be called before any route is added. */
export function addErrorHandler(app: FastifyInstance): void {
  const findMethods = collectMethods(app);
  app.setErrorHandler(sendProblem);
  app.setNotFoundHandler((request, reply) => {
    const methods = findMethods(request.url.split('?')[0] ?? '');
    // File routes also call this handler if the file does not exist.
    if (methods.length === 0 || methods.includes(request.method))
      throw new ProblemError('not_found', 'There is no such endpoint.');
    void reply.header('allow', methods.join(', '));
    throw new ProblemError('method_not_allowed', `This endpoint supports ${methods.join(', ')}.`);
  });
}

/**
 * Sends the problem document for an error, and logs the error if the service is at fault. A client that disconnects
 * while it sends its body is neither an error nor news.
 */
export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (request.raw.destroyed && !request.raw.complete) {
    request.log.debug({ route: request.routeOptions.url }, 'a client disconnected');
    void reply.code(400).send();
    return;
  }
  const { document, headers, unexpected } = toProblemResponse(error, request.id);
  if (unexpected)
    request.log.error({ err: error, route: request.routeOptions.url }, 'a request failed');
  void reply.code(document.status).headers(headers).send(document);
}

/** Collects the supported methods by path, so that an unsupported method is rejected with 405 instead of 404. */
function collectMethods(app: FastifyInstance): (path: string) => string[] {
  const routes: { pattern: RegExp; method: string }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = new RegExp(
      `^${url.replaceAll(/[.*+?^$()[\]\\]/g, '\\$&').replaceAll(/:[^/]+/g, '[^/]+')}$`,
    );
    for (const routeMethod of [method].flat()) routes.push({ pattern, method: routeMethod });
  });
  return (path) =>
    routes
      .filter(({ pattern }) => pattern.test(path))
      .map(({ method }) => method)
      .toSorted();
}

/**
 * Describes a schema violation in plain English. The validator's own messages contain regular expressions and format
 * names.
 */
export function describeViolation(keyword: string, params: Record<string, unknown>): string {
  const limit = Number(params['limit']);
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not a known member';
    case 'enum':
      return `must be one of ${JSON.stringify(params['allowedValues'])}`;
    case 'const':
      return `must be ${JSON.stringify(params['allowedValue'])}`;
    case 'pattern':
      return describePattern(String(params['pattern']));
    case 'format':
      return formatTexts[String(params['format'])] ?? 'has an invalid format';
    case 'type':
      return `must be ${typeTexts[String(params['type'])] ?? String(params['type'])}`;
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`;
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'minItems':
      return limit === 1 ? 'must have at least one entry' : `must have at least ${limit} entries`;
    case 'maxItems':
      return `must have at most ${limit} entries`;
    case 'uniqueItems':
      return 'must not contain duplicates';
    case 'minimum':
      return `must be at least ${limit}`;
    case 'exclusiveMinimum':
      return `must be more than ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    case 'exclusiveMaximum':
      return `must be less than ${limit}`;
    case 'minProperties':
      return 'must not be empty';
    case 'maxProperties':
      return `must have at most ${limit} members`;
    default:
      return 'does not match any of the allowed forms';
  }
}

const typeTexts: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  null: 'null',
};

const formatTexts: Readonly<Record<string, string>> = {
  hostname: 'must be a host name such as game.example, without https:// and without a path',
  'date-time': instantRule,
  uri: 'must be an absolute URL such as https://game.example/page',
  'uri-reference': 'must be a URL',
};

const patternTexts: Readonly<Record<string, string>> = {
  '^(?:google_h5|custom:[a-z0-9](?:[a-z0-9_-]{0,30}[a-z0-9])?)$':
    'must be google_h5, or custom: and a name of up to 32 lowercase letters, digits, hyphens and underscores',
  '^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$':
    'must be 1 to 64 lowercase letters, digits, hyphens and underscores, starting and ending with a letter or digit',
  '^[A-Za-z0-9-]{1,32}$': 'must be 1 to 32 letters, digits and hyphens, such as IAB1-2',
  '^[a-z]+/[a-z0-9.+-]+(?:; ?codecs="[A-Za-z0-9., -]+")?$':
    'must be a media type such as video/mp4, optionally with codecs',
  '^[\\x20-\\x7e]{1,128}$': 'must be 1 to 128 printable ASCII characters',
  '^[A-Za-z0-9]+([-_.@][A-Za-z0-9]+)*$': 'must be a language tag such as pt-BR',
  '^[A-Za-z0-9]+([-_][A-Za-z0-9]+)*$': 'must be a language tag such as pt-BR',
  '^[A-Za-z0-9_-]{8,64}$': 'must be 8 to 64 letters, digits, hyphens and underscores',
  '^[A-Za-z0-9-]{1,64}$': 'must be 1 to 64 letters, digits and hyphens, such as a UUID',
  '^(\\*|https?://[A-Za-z0-9.:\\[\\]-]+)$':
    'must be an origin such as https://game.example, without a path, or * for any origin',
  '^[A-Za-z0-9_.-]{1,64}$': 'must be 1 to 64 letters, digits, hyphens, underscores and dots',
  '^[\\x21-\\x7e]{16,256}$': 'must be 16 to 256 printable ASCII characters without spaces',
  '^[1-9][0-9]{0,15}$': 'must be a whole number, as in `next_cursor`',
  '^[A-Z]{3}$': 'must be three capital letters, such as USD',
  "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$": 'must be an HTTP header name',
  '^[\\x20-\\x7e]{1,4096}$': 'must be 1 to 4,096 printable ASCII characters',
  '^[^\\s,;#]{1,64}$':
    'must be 1 to 64 characters without spaces, commas, semicolons or number signs',
  '^[A-Z]{2}$': 'must be two capital letters, such as DE',
  '\\S': 'must not be empty',
  [linePattern]:
    'must be one line of visible text, without spaces at its ends or characters that turn it around',
  '^\\s*[^\\s@]+@[^\\s@]+\\s*$': 'must be an e-mail address',
};

const idPattern = /^\^([a-z]{3}_)\[0-7\]/;

function describePattern(pattern: string): string {
  const prefix = idPattern.exec(pattern)?.[1];
  if (prefix !== undefined) return `must be an id that begins with ${prefix}`;
  return patternTexts[pattern] ?? 'has invalid characters or an invalid format';
}
