import type { Database } from '../store/database.ts';
import { raiseConfigVersion } from '../resource/resource-store.ts';

/** Moves the media of the account's creatives from one address of the service to another. */
export async function replaceMediaAddress(
  database: Database,
  accountId: string,
  from: string,
  to: string,
): Promise<void> {
  await database.transaction(async (queries) => {
    await queries.query(
      `UPDATE resources SET document = replace(document::text, $2, $3)::jsonb
        WHERE account_id = $1 AND kind = 'creative'`,
      [accountId, `"${from}/media/`, `"${to}/media/`],
    );
    await raiseConfigVersion(queries, accountId);
  });
}
