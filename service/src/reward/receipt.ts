import type { Reward } from '@trueward/protocol/wire';
import {
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  SignJWT,
  type JWK,
} from 'jose';
import type { Scope } from '../resource/scope.ts';

/** How long a receipt can be redeemed. */
const lifetimeS = 30 * 86_400;

interface ReceiptFacts {
  scope: Scope;
  decisionId: string;
  userRef: string;
  placement: string;
  reward: Reward;
  nowMs: number;
}

/** Signs receipts of earned rewards, which a game server can check offline. */
export interface Receipts {
  sign(facts: ReceiptFacts): Promise<string>;
  /** The public keys, as `/.well-known/jwks.json` shows them. */
  jwks: { keys: JWK[] };
}

/** Makes a private Ed25519 key as JSON. */
export async function makeReceiptKey(): Promise<string> {
  const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  return JSON.stringify(await exportJWK(privateKey));
}

/** @param issuer - hands back the service's public address. */
export async function createReceipts(privateKey: string, issuer: () => string): Promise<Receipts> {
  const jwk = JSON.parse(privateKey) as JWK;
  const { d: _private, ...publicJwk } = jwk;
  const kid = await calculateJwkThumbprint(publicJwk);
  const key = await importJWK(jwk, 'EdDSA');
  return {
    jwks: { keys: [{ ...publicJwk, kid, alg: 'EdDSA', use: 'sig' }] },
    sign({ scope, decisionId, userRef, placement, reward, nowMs }) {
      const issuedAtS = Math.floor(nowMs / 1_000);
      return new SignJWT({ env: scope.environment, reward: { ...reward }, placement })
        .setProtectedHeader({ alg: 'EdDSA', kid, typ: 'reward-receipt+jwt' })
        .setIssuer(issuer())
        .setAudience(scope.accountId)
        .setSubject(userRef)
        .setJti(decisionId)
        .setIssuedAt(issuedAtS)
        .setExpirationTime(issuedAtS + lifetimeS)
        .sign(key);
    },
  };
}
