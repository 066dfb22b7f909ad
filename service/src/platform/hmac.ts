import { createHmac } from 'node:crypto';

/** HMAC-SHA256 of a text, in base64url. */
export const hmac = (key: string, text: string): string =>
  createHmac('sha256', key).update(text).digest('base64url');
