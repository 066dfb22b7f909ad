import { attempt } from './guard.ts';

/** Makes an id that no one else makes, of digits and a hyphen, at most 48 of them. */
export type NewId = () => string;

let page: string | undefined;
let made = 0;

/**
 * 96 random bits of the page, and a count: 16 random bytes for each id, as digits, took a third of what
 * an event costs. Not by `crypto.randomUUID`, which is missing on pages without HTTPS. Where there are no
 * cryptographic random numbers, others will do: an id is no secret.
 */
export const newRandomId: NewId = () => {
  page ??= (
    attempt(() => crypto.getRandomValues(new Uint32Array(3))) ??
    new Uint32Array(3).map(() => Math.random() * 2 ** 32)
  ).join('');
  return `${page}-${(made += 1)}`;
};
