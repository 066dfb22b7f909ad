import type { IdKind } from '@trueward/protocol';
import type { Database, Scope } from '../src/store/database.ts';
import { openEmptyDatabase } from './empty-database.ts';
import { addTenant, makeId, makeName, type Place, type Tenant } from './tenant-rows.ts';

/**
 * Two accounts with the same rows: three per table and environment. A statement that loses a term of its condition hits
 * a sibling in its own account, a row in the other environment, or the row with the same id in the other account.
 */

const home: Tenant = { marker: 's1b11ngs', accountId: (n) => `acc_home${n}` };
const twin: Tenant = { ...home, accountId: (n) => `acc_twin${n}` };

/** The account that the tests are about. */
export const accountId = home.accountId(1);
export const scope: Scope = { accountId, environment: 'sandbox' };
/** The first of each kind of row. */
export const place: Place = { tenant: home, environment: 'sandbox', n: 1 };
/** The first row's text in columns without a special value. */
export const name = makeName(place);

/** Returns the ids of rows in the account's sandbox. */
export const ids = (kind: IdKind, ...numbers: number[]): string[] =>
  numbers.map((n) => makeId(kind, { ...place, n }));

/** A box that encrypts nothing. */
export const openText = { open: (text: string) => text, seal: (text: string) => text };

/** Makes the first of everything that players have, in each account and environment, this player's. */
export const giveAll = (viewer: string): string[] => [
  ...[
    'decisions',
    'player_tokens',
    'link_codes',
    'wallet_balances',
    'wallet_entries',
    'viewers',
  ].map((table) => `UPDATE ${table} SET viewer = '${viewer}' WHERE right(viewer, 1) = '1'`),
  `UPDATE webhook_events SET viewer = '${viewer}' WHERE right(id, 1) = '1'`,
];

/** Opens a database with the two accounts. */
export async function openTwinDatabase(): Promise<Database> {
  const database = await openEmptyDatabase();
  await database.transaction(async (queries) => {
    for (const tenant of [home, twin]) await addTenant(queries, tenant);
  });
  return database;
}
