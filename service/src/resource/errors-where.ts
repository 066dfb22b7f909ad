import type { FieldError } from '../platform/domain-error.ts';

/** Returns the errors for all rules whose condition is true. */
export const errorsWhere = (...rules: [boolean, string, string][]): FieldError[] =>
  rules.filter(([isViolated]) => isViolated).map(([, pointer, message]) => ({ pointer, message }));
