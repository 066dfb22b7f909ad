import { roles } from '../../../user/user.ts';

/** The body of a request of the panel; what is not named is refused. */
export const strictBody = (properties: Record<string, object>, required: readonly string[]) => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});

export const text = (maxLength: number, minLength = 1) => ({
  type: 'string',
  minLength,
  maxLength,
});

/** Something to call a person by. */
export const personName = { ...text(200), pattern: '\\S' };

export const email = { ...text(254), pattern: '^\\s*[^\\s@]+@[^\\s@]+\\s*$' };

export const role = { type: 'string', enum: roles };

/** A phrase is easier to remember and harder to guess than eight characters with a sign. */
export const newPassword = text(200, 12);
