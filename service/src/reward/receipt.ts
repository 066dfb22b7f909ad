import type { Reward } from '@trueward/protocol/wire';
import { SignJWT, type JWK } from 'jose';
import type { Logger } from 'pino';
import type { Scope } from '../resource/scope.ts';
import { receiptLifetimeS } from './receipt-lifetime.ts';
import type { ReceiptKey } from './receipt-keys.ts';

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
  /** The public keys, as `/.well-known/jwks.json` shows them; looks for new ones. */
  readJwks(): Promise<{ keys: JWK[] }>;
  stop(): void;
}

interface Parts {
  readKeys(): Promise<ReceiptKey[]>;
  /** The service's public address. */
  issuer(): string;
  log: Logger;
}

/** How often to look for keys that another process made. */
const lookEveryMs = 60_000;
/** Whoever asks for the keys makes the service look no more often than this. */
const lookAtMostEveryMs = 1_000;

export async function createReceipts({ readKeys, issuer, log }: Parts): Promise<Receipts> {
  let keys = await readKeys();
  let looking: Promise<void> | undefined;
  const look = async (): Promise<void> => {
    keys = await readKeys();
    setTimeout(() => (looking = undefined), lookAtMostEveryMs).unref();
  };
  const refresh = (): Promise<void> =>
    (looking ??= look().catch((error: unknown) => {
      looking = undefined;
      log.error({ err: error }, 'the keys of receipts could not be read');
    }));
  const timer = setInterval(() => void refresh(), lookEveryMs);
  return {
    async readJwks() {
      await refresh();
      return { keys: keys.map(({ publicJwk }) => publicJwk) };
    },
    sign: (facts) => signReceipt(keys[0], issuer(), facts),
    stop: () => clearInterval(timer),
  };
}

async function signReceipt(
  key: ReceiptKey | undefined,
  issuer: string,
  { scope, decisionId, userRef, placement, reward, nowMs }: ReceiptFacts,
): Promise<string> {
  if (!key) throw new Error('There is no key to sign receipts with.');
  const issuedAtS = Math.floor(nowMs / 1_000);
  return new SignJWT({ env: scope.environment, reward: { ...reward }, placement })
    .setProtectedHeader({ alg: 'EdDSA', kid: key.kid, typ: 'reward-receipt+jwt' })
    .setIssuer(issuer)
    .setAudience(scope.accountId)
    .setSubject(userRef)
    .setJti(decisionId)
    .setIssuedAt(issuedAtS)
    .setExpirationTime(issuedAtS + receiptLifetimeS)
    .sign(key.privateKey);
}
