import type { Environment, KeyKind } from './key-text.ts';

/** Whom a request comes from, as its key says. */
export interface Principal {
  accountId: string;
  environment: Environment;
  kind: KeyKind;
  keyId: string;
  /** Where a publishable key may be used; `*` is everywhere. */
  allowedOrigins: string[];
  /** Unix milliseconds from which the key no longer works. */
  revokedAtMs?: number;
}
