import { attempt } from './guard.ts';

/** Creates a unique id: up to 48 digits and a hyphen. */
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
