/** A validation error of one member of a request. */
export interface FieldError {
  /** RFC 6901 pointer. */
  pointer: string;
  message: string;
}

/** A request violates a domain rule; `http/` responds with a problem document. */
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

/** @throws RefusedError when there are any errors. */
export function refuseFields(errors: readonly FieldError[]): void {
  if (errors.length > 0)
    throw new RefusedError('invalid_request', 'The body is not valid.', errors);
}
