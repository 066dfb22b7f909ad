import type { Environment } from '../key/key-text.ts';

/** Whose rows a call is about. */
export interface Scope {
  accountId: string;
  environment: Environment;
}
