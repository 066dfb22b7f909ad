import type { Queries } from '../store/database.ts';

/** A wallet whose entries don't add up to its balance, or are not numbered without gaps. */
export interface SumDifference {
  accountId: string;
  environment: string;
  /** The player's pseudonym. */
  viewer: string;
}

/** How many differences are returned at most. */
const maxDifferences = 100;

/**
 * Finds wallets in which the entries of a type don't add up to the balance, or in which entries are missing. Each wallet
 * is compared at one moment, so the service may be running. Reads all wallets.
 */
export const findSumDifferences = (queries: Pick<Queries, 'query'>): Promise<SumDifference[]> =>
  queries.query<SumDifference>(
    `SELECT DISTINCT account_id AS "accountId", environment, viewer FROM (
        SELECT account_id, environment, viewer FROM (
          SELECT account_id, environment, viewer, type, delta AS amount FROM wallet_entries
            UNION ALL SELECT account_id, environment, viewer, type, -balance FROM wallet_balances) amounts
          GROUP BY account_id, environment, viewer, type HAVING sum(amount) <> 0
        UNION ALL SELECT account_id, environment, viewer FROM wallet_entries
          GROUP BY account_id, environment, viewer HAVING count(*) <> max(version)) differences
      LIMIT ${maxDifferences}`,
  );
