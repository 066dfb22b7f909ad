import { systemClock } from '../platform/clock.ts';
import type { MakeId } from '../platform/ids.ts';
import type { Queries } from '../store/database.ts';
import { CommandError } from './command.ts';

interface AccountOptions {
  account?: string | undefined;
  'new-account'?: string | undefined;
}

/** Resolves the account: the named one, a new one, or the only one. Creates the first account. */
export async function chooseAccount(
  queries: Queries,
  makeId: MakeId,
  { account, 'new-account': newName }: AccountOptions,
): Promise<string> {
  const rows = await queries.query<{ account_id: string; name: string }>(
    'SELECT account_id, name FROM accounts ORDER BY account_id',
  );
  if (newName === undefined && account !== undefined) {
    if (rows.some(({ account_id }) => account_id === account)) return account;
    throw new CommandError(`Account ${account} does not exist. ${listing(rows)}`);
  }
  const [only, ...others] = rows;
  if (newName === undefined && only) {
    if (others.length === 0) return only.account_id;
    throw new CommandError(`There are several accounts: pass --account <id>. ${listing(rows)}`);
  }
  const id = makeId('account');
  await queries.query('INSERT INTO accounts (account_id, name, created_at) VALUES ($1, $2, $3)', [
    id,
    newName ?? 'Main',
    new Date(systemClock.nowMs()),
  ]);
  return id;
}

const listing = (rows: { account_id: string; name: string }[]): string =>
  `Accounts: ${rows.map(({ account_id, name }) => `${account_id} (${name})`).join(', ') || 'none'}.`;
