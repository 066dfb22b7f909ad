import type { SecretBox } from '../key/secret-box.ts';

/** How the bodies of events lie in the database. */
export interface EventBodies {
  /** A confidential body, which names a child, is sealed. */
  store(body: string, confidential: boolean): string;
  /** The body as it is delivered. */
  open(stored: string): string;
}

export const createEventBodies = (box: SecretBox): EventBodies => ({
  store: (body, confidential) => (confidential ? box.seal(body) : body),
  // JSON of an object begins with a brace, and what is sealed never does.
  open: (stored) => (stored.startsWith('{') ? stored : box.open(stored)),
});
