import type { Problem } from '@trueward/protocol/wire';
import { HttpError } from 'react-admin';

interface FieldErrors {
  [member: string]: string | FieldErrors;
}

/**
 * Converts an error response to what react-admin displays: a readable message, and the errors of a form by
 * field name.
 */
export async function toHttpError(response: Response): Promise<HttpError> {
  const problem = await readProblem(response);
  const message = problem
    ? describeProblem(problem)
    : `The service returned an error (${response.status}).`;
  return new HttpError(message, response.status, {
    code: problem?.code,
    retryAfterS: Number(response.headers.get('retry-after')) || undefined,
    // All errors are in the message as well, because some have no field in the form.
    ...(problem?.errors
      ? { errors: { ...byField(problem.errors), root: { serverError: message } } }
      : {}),
  });
}

/** The code of the problem document, if the error has one. */
export function codeOf(error: unknown): string | undefined {
  const body: unknown = error instanceof HttpError ? error.body : undefined;
  return typeof body === 'object' && body !== null && 'code' in body
    ? String(body.code)
    : undefined;
}

/** The errors by field, if the service returned any. */
export function fieldErrorsOf(error: unknown): object | undefined {
  const body: unknown = error instanceof HttpError ? error.body : undefined;
  return typeof body === 'object' && body !== null && 'errors' in body
    ? (body.errors as object)
    : undefined;
}

/** The seconds from `Retry-After`, if present. */
export function retryAfterOf(error: unknown): number | undefined {
  const body: unknown = error instanceof HttpError ? error.body : undefined;
  return typeof body === 'object' && body !== null && 'retryAfterS' in body
    ? (body.retryAfterS as number | undefined)
    : undefined;
}

const changedElsewhere =
  'Not saved: somebody else changed this after you opened it. Refresh, review their changes, and save again.';

/** The message for a failure. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : 'Something went wrong.';

/** `Fix the highlighted fields. Domain: must be a host name.` */
const describeProblem = ({ code, detail, errors = [] }: Problem): string => {
  if (code === 'precondition_failed') return changedElsewhere;
  if (code !== 'invalid_request' || errors.length === 0) return detail;
  const wrong = errors.map(({ pointer, message }) => {
    const name = membersOf(pointer).join(' ').replaceAll('_', ' ');
    return name === ''
      ? capitalize(message)
      : `${capitalize(name)}: ${message.replace(/\.$/, '')}.`;
  });
  return ['Fix the highlighted fields.', ...new Set(wrong)].join(' ');
};

/** The field names in a pointer, without array indexes: the form shows an array as one field. */
const membersOf = (pointer: string): string[] =>
  pointer.split('/').filter((part) => part !== '' && !/^\d+$/.test(part));

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

async function readProblem(response: Response): Promise<Problem | undefined> {
  const isProblem = response.headers.get('content-type')?.includes('json') ?? false;
  if (!isProblem) return undefined;
  // A truncated response: only the status is known.
  return (await response.json().catch(() => undefined)) as Problem | undefined;
}

/** `/reward/amount` → `{reward: {amount: …}}`. */
function byField(errors: NonNullable<Problem['errors']>): FieldErrors {
  const fields: FieldErrors = {};
  for (const { pointer, message } of errors) {
    const path = membersOf(pointer);
    const last = path.pop();
    if (last === undefined) continue;
    let inside = fields;
    for (const part of path) {
      const next = inside[part];
      inside = inside[part] = typeof next === 'object' ? next : {};
    }
    inside[last] = capitalize(message);
  }
  return fields;
}
