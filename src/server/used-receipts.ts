import type { RewardReceipt } from './verify-receipt.ts';

/** Remembers which receipts, or webhooks, have been used, for as long as they could be used again. */
export interface UsedReceipts {
  /** True the first time for each id, false ever after: credit only on true. */
  claim(receipt: Pick<RewardReceipt, 'decisionId' | 'expiresAt'>): boolean;
  /** Whether the `jti` (the decision's id) has been used. */
  seen(jti: string): boolean;
}

export interface UsedReceiptsOptions {
  /** So many ids are kept at most; then `claim` throws, because forgetting would pay twice. Default 1,000,000. */
  capacity?: number;
  /** The present, in milliseconds since 1970. Default `Date.now`. */
  now?: () => number;
}

/**
 * A memory of used receipts for one process: for tests, and for a game server that may forget with
 * its players. With more than one process, or money at stake, let the database decide: a unique
 * column for the decision's id, written in the transaction that credits.
 *
 * @example
 * const used = createUsedReceipts();
 * const receipt = await verifyReceipt(text, keys, { accountId });
 * if (used.claim(receipt)) credit(receipt.userRef, receipt.reward);
 */
export function createUsedReceipts({
  capacity = 1_000_000,
  now = Date.now,
}: UsedReceiptsOptions = {}): UsedReceipts {
  const untilMs = new Map<string, number>();
  const forgetExpired = (): void => {
    for (const [id, until] of untilMs) if (until <= now()) untilMs.delete(id);
  };
  return {
    claim({ decisionId, expiresAt }) {
      if (untilMs.has(decisionId)) return false;
      if (untilMs.size >= capacity) forgetExpired();
      if (untilMs.size >= capacity) {
        throw new RangeError(`${capacity} receipts are in use; make the capacity larger.`);
      }
      // verifyReceipt lets a receipt live a little longer than it says: a day more is on the safe side.
      untilMs.set(decisionId, expiresAt.getTime() + 86_400_000);
      return true;
    },
    seen: (jti) => untilMs.has(jti),
  };
}
