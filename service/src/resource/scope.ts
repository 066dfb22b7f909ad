import type { Environment } from '../key/key-text.ts';

/** The account and environment whose rows a call concerns. */
export interface Scope {
  accountId: string;
  environment: Environment;
}
