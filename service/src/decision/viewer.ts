import { hmac } from '../key/service-secrets.ts';
import type { Scope } from '../store/database.ts';

/** A user's pseudonym, for caps and overlap: it cannot be turned back into the `user_ref`. */
export type Pseudonym = (scope: Scope, userRef: string) => string;

/** A keyed hash, so that it is of use also where `user_ref` itself must not be stored (children). */
export function createPseudonyms(key: string): Pseudonym {
  return ({ accountId, environment }, userRef) =>
    hmac(key, `${accountId}\n${environment}\n${userRef}`).slice(0, 22);
}
