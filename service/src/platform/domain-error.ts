/** A validation error in one field of a request. */
export interface FieldError {
  /** RFC 6901 pointer. */
  pointer: string;
  message: string;
}

/** Thrown when a request violates a domain rule. The HTTP layer responds with a problem document. */
export class DomainError extends Error {
  readonly code:
    'invalid_request' | 'conflict' | 'not_found' | 'precondition_failed' | 'quota_exceeded';
  readonly errors: readonly FieldError[];
  constructor(code: DomainError['code'], message: string, errors: readonly FieldError[] = []) {
    super(message);
    this.name = 'DomainError';
    this.code = code;
    this.errors = errors;
  }
}

/** Returns the errors for all rules whose condition is true. */
export const errorsWhere = (...rules: [boolean, string, string][]): FieldError[] =>
  rules.filter(([isViolated]) => isViolated).map(([, pointer, message]) => ({ pointer, message }));

/** @throws DomainError when the list isn't empty. */
export function throwFieldErrors(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw new DomainError('invalid_request', 'The body is not valid.', errors);
}
