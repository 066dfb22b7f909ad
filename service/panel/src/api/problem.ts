import type { Problem } from '@trueward/protocol/wire';
import { HttpError } from 'react-admin';

interface FieldErrors {
  [member: string]: string | FieldErrors;
}

/**
 * An answer that is no success, in the form in which react-admin shows it: a message for people, and
 * the errors of a form by the names of its fields.
 */
export async function toHttpError(response: Response): Promise<HttpError> {
  const problem = await readProblem(response);
  const message = problem ? inWords(problem) : `The service answered ${response.status}.`;
  return new HttpError(message, response.status, {
    code: problem?.code,
    retryAfterS: Number(response.headers.get('retry-after')) || undefined,
    ...(problem?.errors ? { errors: byField(problem.errors) } : {}),
  });
}

/** The code of the problem document that an error came from. */
export function codeOf(error: unknown): string | undefined {
  const body: unknown = error instanceof HttpError ? error.body : undefined;
  return typeof body === 'object' && body !== null && 'code' in body
    ? String(body.code)
    : undefined;
}

/** What is wrong with which field, where the service said so. */
export function fieldErrorsOf(error: unknown): object | undefined {
  const body: unknown = error instanceof HttpError ? error.body : undefined;
  return typeof body === 'object' && body !== null && 'errors' in body
    ? (body.errors as object)
    : undefined;
}

/** The seconds after which the service may be asked again, where it named any. */
export function retryAfterOf(error: unknown): number | undefined {
  const body: unknown = error instanceof HttpError ? error.body : undefined;
  return typeof body === 'object' && body !== null && 'retryAfterS' in body
    ? (body.retryAfterS as number | undefined)
    : undefined;
}

const changedElsewhere =
  'Nothing is saved: somebody else has changed it since you opened it. Refresh, look at what is there now, and save again.';

/** What a person is told of a failure. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : 'Something went wrong.';

/** `The body is not valid: /name is too long.` */
const inWords = ({ code, detail, errors = [] }: Problem): string => {
  if (code === 'precondition_failed') return changedElsewhere;
  const wrong = errors.map(({ pointer, message }) => `${pointer} ${message}`.trim());
  return wrong.length === 0 ? detail : `${detail.replace(/\.$/, '')}: ${wrong.join('; ')}.`;
};

async function readProblem(response: Response): Promise<Problem | undefined> {
  const isProblem = response.headers.get('content-type')?.includes('json') ?? false;
  if (!isProblem) return undefined;
  // A cut answer says no more than its status.
  return (await response.json().catch(() => undefined)) as Problem | undefined;
}

/** `/reward/amount` → `{reward: {amount: …}}`; what names no field goes to the form as a whole. */
function byField(errors: NonNullable<Problem['errors']>): FieldErrors {
  const fields: FieldErrors = {};
  for (const { pointer, message } of errors) {
    const path = pointer.split('/').filter((part) => part !== '');
    const last = path.pop();
    if (last === undefined) {
      fields['root'] = { serverError: message };
      continue;
    }
    let inside = fields;
    for (const part of path) {
      const next = inside[part];
      inside = inside[part] = typeof next === 'object' ? next : {};
    }
    inside[last] = message;
  }
  return fields;
}
