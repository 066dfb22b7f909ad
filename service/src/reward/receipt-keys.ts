import { createPrivateKey, type KeyObject, randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';
import type { SecretBox } from '../key/secret-box.ts';
import { serviceAccount } from '../key/service-secrets.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Queries } from '../store/database.ts';

const purpose = 'receipt_key';
/** Another process may sign with the old key until it looks again. */
const overlapMs = 3_600_000;

/** A key that signs receipts, and its public half. */
export interface ReceiptKey {
  kid: string;
  privateKey: KeyObject;
  publicJwk: JWK;
}

/** Makes a private Ed25519 key as JSON. */
export async function makeReceiptKey(): Promise<string> {
  const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  return JSON.stringify(await exportJWK(privateKey));
}

/** The keys whose receipts can still be redeemed; the first one signs. */
export async function readReceiptKeys(
  queries: Queries,
  box: SecretBox,
  clock: Clock,
): Promise<ReceiptKey[]> {
  const rows = await queries.query<{ sealed: string }>(
    `SELECT sealed FROM secrets WHERE account_id = $1 AND purpose = $2 AND (expires_at IS NULL OR expires_at > $3)
      ORDER BY created_at DESC, id DESC`,
    [serviceAccount, purpose, new Date(clock.nowMs())],
  );
  return Promise.all(rows.map(({ sealed }) => toReceiptKey(box.open(sealed))));
}

async function toReceiptKey(privateJson: string): Promise<ReceiptKey> {
  const jwk = JSON.parse(privateJson) as JWK;
  const { d: _private, ...publicPart } = jwk;
  const kid = await calculateJwkThumbprint(publicPart);
  const publicJwk = { ...publicPart, kid, alg: 'EdDSA', use: 'sig' };
  return { kid, privateKey: createPrivateKey({ key: jwk, format: 'jwk' }), publicJwk };
}

/**
 * Makes a new key for receipts. The ones before sign no more, but verify until the last receipt that
 * they signed has expired. Every process takes the new key up within a minute.
 */
export async function rotateReceiptKey(
  database: Database,
  box: SecretBox,
  clock: Clock,
): Promise<void> {
  const sealed = box.seal(await makeReceiptKey());
  const nowMs = clock.nowMs();
  await database.transaction(async (queries) => {
    await queries.query(
      'UPDATE secrets SET expires_at = $3 WHERE account_id = $1 AND purpose = $2 AND expires_at IS NULL',
      [serviceAccount, purpose, new Date(nowMs + receiptLifetimeS * 1_000 + overlapMs)],
    );
    await queries.query(
      'INSERT INTO secrets (account_id, purpose, id, sealed, created_at) VALUES ($1, $2, $3, $4, $5)',
      [serviceAccount, purpose, randomBytes(8).toString('hex'), sealed, new Date(nowMs)],
    );
  });
}

/** How long a receipt can be redeemed, in seconds. */
export const receiptLifetimeS = 30 * 86_400;
