import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OwnAccount } from '../../src/access/own-account.ts';
import { findUser, lockUser, updateUser, type User } from '../../src/access/user.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { type PanelClient, signInAs, signInOwner } from './panel-client.ts';

// A new password ends all sessions of a user. What one of them has begun in another process must not undo that.

let running: InProcessService;
let owner: PanelClient;
beforeAll(async () => {
  if (!hasPostgres) return;
  const databaseUrl = await createPostgresDatabase();
  running = await startInProcess({ DATABASE_URL: databaseUrl, RATE_LIMITS: 'off' });
  owner = await signInOwner(running);
});
afterAll(() => running?.stop());

async function makeUser(): Promise<User> {
  const { database } = running.service;
  const { id } = await signInAs(running, owner, 'owner');
  const [row] = await database.query<{ accountId: string }>(
    'SELECT account_id AS "accountId" FROM users WHERE id = $1',
    [id],
  );
  const user = await findUser(database, row?.accountId ?? '', id);
  if (!user) throw new Error(`There is no user ${id}.`);
  return user;
}

const countWaiting = async () => {
  const rows = await running.service.database.query(
    `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
  );
  return rows.length;
};

describe.skipIf(!hasPostgres)('while another process sets a new password', () => {
  test.each<[what: string, change: (account: OwnAccount, user: User) => Promise<unknown>]>([
    ['set another one', (account, user) => account.changePassword(user, 'purple elephant drinks')],
    ['set up one-time codes', (account, user) => account.startCodeSetup(user)],
    ['turn one-time codes off', (account, user) => account.disableCodes(user)],
  ])('a session of before can’t %s', async (_what, change) => {
    const known = await makeUser();
    const { database, users } = running.service;
    let changing: Promise<unknown> | undefined;
    await database.transaction(async (queries) => {
      const user = await lockUser(queries, known.accountId, known.id);
      changing = change(users.ownAccount, known);
      changing.catch(() => undefined);
      await expect.poll(countWaiting).toBe(1);
      await updateUser(queries, user ?? known, { password: 'a new hash' });
    });
    await expect(changing).rejects.toMatchObject({ code: 'conflict' });
    const { password, codesSecret } = (await findUser(database, known.accountId, known.id)) ?? {};
    expect([password, codesSecret]).toEqual(['a new hash', null]);
  });
});
