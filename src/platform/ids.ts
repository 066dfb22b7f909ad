import { attempt } from './guard.ts';

/** Creates a unique id, which consists of up to 48 digits and a hyphen. */
export type NewId = () => string;

let prefix: string | undefined;
let count = 0;

/**
 * Combines 96 random bits per page with a counter. Encoding 16 random bytes for every id would account for a third of
 * the cost per event. `crypto.randomUUID()` is unavailable in insecure contexts. `Math.random()` is an acceptable
 * fallback, because ids are not secret.
 */
export const newRandomId: NewId = () => {
  prefix ??= (
    attempt(() => crypto.getRandomValues(new Uint32Array(3))) ??
    new Uint32Array(3).map(() => Math.random() * 2 ** 32)
  ).join('');
  return `${prefix}-${(count += 1)}`;
};
