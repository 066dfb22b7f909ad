import { createHash, createHmac, randomBytes } from 'node:crypto';

/** 256 random bits for a cookie or a link. */
export const makeSecretText = (): string => randomBytes(32).toString('base64url');

/** What is stored of it; so much chance needs no slow hash. */
export const hashSecretText = (text: string): string =>
  createHash('sha256').update(text).digest('hex');

/** What the requests of a session carry, so that only pages that could read it can send them. */
export const csrfTokenOf = (sessionText: string): string =>
  createHmac('sha256', sessionText).update('csrf').digest('base64url');
