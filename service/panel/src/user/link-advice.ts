/** What to do with a one-time link. */
export const linkAdvice = 'Send this link to them. It works once, for 24 hours.';
