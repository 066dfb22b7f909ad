/** What is wrong with which member of a request. */
export interface FieldError {
  /** RFC 6901 pointer. */
  pointer: string;
  message: string;
}

/** A domain rule refuses what was asked for; `http/` turns it into a problem document. */
export class RefusedError extends Error {
  readonly code: 'invalid_request' | 'conflict' | 'not_found' | 'precondition_failed';
  readonly errors: readonly FieldError[];
  constructor(code: RefusedError['code'], message: string, errors: readonly FieldError[] = []) {
    super(message);
    this.name = 'RefusedError';
    this.code = code;
    this.errors = errors;
  }
}

/** Refuses a request for what is wrong with its members, if anything is. */
export function refuseFields(errors: readonly FieldError[]): void {
  if (errors.length > 0)
    throw new RefusedError('invalid_request', 'The body is not valid.', errors);
}
