import type { Problem } from '@trueward/protocol/wire';
import { HttpError } from 'react-admin';
import { getFieldLabel } from '../common/fields.ts';

interface FieldErrors {
  [field: string]: string | FieldErrors;
}

/**
 * Converts an error response to an error that react-admin can display: a readable message, and form errors by field
 * name.
 */
export async function toHttpError(response: Response): Promise<HttpError> {
  const problem = await readProblem(response);
  const message = problem
    ? describeProblem(problem)
    : `The service returned an error (${response.status}).`;
  return new HttpError(message, response.status, {
    code: problem?.code,
    retryAfterS: Number(response.headers.get('retry-after')) || undefined,
    // The message also contains all errors, because the form may have no field for some of them.
    ...(problem?.errors
      ? { errors: { ...nestByField(problem.errors), root: { serverError: message } } }
      : {}),
  });
}

/** Returns the problem document's code, if any. */
export function readCode(error: unknown): string | undefined {
  const body: unknown = error instanceof HttpError ? error.body : undefined;
  return typeof body === 'object' && body !== null && 'code' in body
    ? String(body.code)
    : undefined;
}

/** Returns the errors by field, if the service sent any. */
export function readFieldErrors(error: unknown): object | undefined {
  const body: unknown = error instanceof HttpError ? error.body : undefined;
  return typeof body === 'object' && body !== null && 'errors' in body
    ? (body.errors as object)
    : undefined;
}

/** Returns the seconds in `Retry-After`, if present. */
export function readRetryAfter(error: unknown): number | undefined {
  const body: unknown = error instanceof HttpError ? error.body : undefined;
  return typeof body === 'object' && body !== null && 'retryAfterS' in body
    ? (body.retryAfterS as number | undefined)
    : undefined;
}

const conflictMessage =
  'Not saved: someone else changed this after you opened it. Refresh, review their changes, and save again.';

/** Returns the message to display for an error. */
export const readMessage = (error: unknown): string =>
  error instanceof Error ? error.message : 'Something went wrong.';

/** Describes a problem, for example `Fix the highlighted fields. Domain: must be a host name.` */
const describeProblem = ({ code, detail, errors = [] }: Problem): string => {
  if (code === 'precondition_failed') return conflictMessage;
  if (code !== 'invalid_request' || errors.length === 0) return detail;
  const descriptions = errors.map(({ pointer, message }) => {
    const path = toFieldPath(pointer);
    const name = path.map((part, index) => getFieldLabel(part, path[index - 1])).join(' ');
    return name === ''
      ? capitalize(message)
      : `${capitalize(name)}: ${message.replace(/\.$/, '')}.`;
  });
  return ['Fix the highlighted fields.', ...new Set(descriptions)].join(' ');
};

/** Returns the field names in a JSON pointer, without array indexes, because the form shows an array as one field. */
const toFieldPath = (pointer: string): string[] =>
  pointer.split('/').filter((part) => part !== '' && !/^\d+$/.test(part));

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

async function readProblem(response: Response): Promise<Problem | undefined> {
  const isProblem = response.headers.get('content-type')?.includes('json') ?? false;
  if (!isProblem) return undefined;
  // The response may be truncated. Its status is enough.
  return (await response.json().catch(() => undefined)) as Problem | undefined;
}

/** Nests errors by field: `/reward/amount` → `{reward: {amount: …}}`. */
function nestByField(errors: NonNullable<Problem['errors']>): FieldErrors {
  const fields: FieldErrors = {};
  for (const { pointer, message } of errors) {
    const path = toFieldPath(pointer);
    const last = path.pop();
    if (last === undefined) continue;
    let parent = fields;
    for (const name of path) {
      const child = parent[name];
      parent = parent[name] = typeof child === 'object' ? child : {};
    }
    parent[last] = capitalize(message);
  }
  return fields;
}
