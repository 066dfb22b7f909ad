import { sign } from 'node:crypto';
import type { Reward } from '@trueward/protocol/wire';
import type { JWK } from 'jose';
import type { Logger } from 'pino';
import type { Scope } from '../store/database.ts';
import { receiptLifetimeS, type ReceiptKey } from './receipt-keys.ts';

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
  sign(facts: ReceiptFacts): string;
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

/**
 * A compact JWS (RFC 7515, RFC 8037). Not through jose: its way to the same bytes takes the processor
 * 70 to 100 µs instead of 45, and the receipt is the dearest part of a reward.
 */
function signReceipt(
  key: ReceiptKey | undefined,
  issuer: string,
  { scope, decisionId, userRef, placement, reward, nowMs }: ReceiptFacts,
): string {
  if (!key) throw new Error('There is no key to sign receipts with.');
  const issuedAtS = Math.floor(nowMs / 1_000);
  const header = { alg: 'EdDSA', kid: key.kid, typ: 'reward-receipt+jwt' };
  const claims = {
    env: scope.environment,
    reward,
    placement,
    iss: issuer,
    aud: scope.accountId,
    sub: userRef,
    jti: decisionId,
    iat: issuedAtS,
    exp: issuedAtS + receiptLifetimeS,
  };
  const signed = `${encode(header)}.${encode(claims)}`;
  return `${signed}.${sign(null, Buffer.from(signed), key.privateKey).toString('base64url')}`;
}

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
