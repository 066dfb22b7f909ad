import type { ApiKey } from '@trueward/protocol/wire';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OwnAccount } from '../../src/access/own-account.ts';
import { findUser, lockUser, updateUser, type User } from '../../src/access/user.ts';
import { lockConfiguration } from '../../src/store/config-version.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { countLockWaits, createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { createClient } from './client.ts';
import { type PanelClient, signInAs, signInOwner } from './panel-client.ts';
import { summarize } from './panel-setup.ts';

// A new password ends all sessions of a user, and a key can be revoked. What one of them has begun in another process
// must not undo that.

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
      await expect.poll(() => countLockWaits(running.service.database)).toBe(1);
      await updateUser(queries, user ?? known, { password: 'a new hash' });
    });
    await expect(changing).rejects.toMatchObject({ code: 'conflict' });
    const { password, codesSecret } = (await findUser(database, known.accountId, known.id)) ?? {};
    expect([password, codesSecret]).toEqual(['a new hash', null]);
  });
});

interface Right {
  /** Sends a request that is made with the right. */
  send(): Promise<{ status: number; body?: { code?: string } }>;
  /** A statement that takes the right away. */
  take: string;
  id: string;
}
const newKey = { kind: 'secret', name: 'kept' };

describe.skipIf(!hasPostgres)('a request that waits for a change of another process', () => {
  test.each<[what: string, answer: unknown[], make: () => Promise<Right>]>([
    [
      'revokes its key',
      [401, 'key_revoked'],
      async () => {
        const { call, manage } = createClient(running);
        const { id, key } = await manage<ApiKey>('POST', '/v1/keys', { kind: 'secret' });
        const take = `UPDATE keys SET revoked_at = '2020-01-01' WHERE id = $1`;
        return { send: () => call('POST', '/v1/keys', key, newKey), take, id };
      },
    ],
    [
      'ends its session',
      [401, 'authentication_required'],
      async () => {
        const { send, id } = await signInAs(running, owner, 'owner');
        const take = 'DELETE FROM sessions WHERE user_id = $1';
        return { send: () => send('POST', '/v1/keys', newKey), take, id };
      },
    ],
    [
      'lowers the role of its user',
      [403, 'role_not_permitted'],
      async () => {
        const { send, id } = await signInAs(running, owner, 'owner');
        const take = `UPDATE users SET role = 'viewer' WHERE id = $1`;
        return { send: () => send('POST', '/v1/keys', newKey), take, id };
      },
    ],
  ])('that %s changes nothing', async (_what, answer, make) => {
    const { accountId } = await makeUser();
    const { send, take, id } = await make();
    let sent: ReturnType<Right['send']> | undefined;
    await running.service.database.transaction(async (queries) => {
      await lockConfiguration(queries, accountId);
      sent = send();
      await expect.poll(() => countLockWaits(running.service.database)).toBe(1);
      await queries.query(take, [id]);
    });
    expect(summarize((await sent) ?? { status: 0 })).toEqual(answer);
  });
});
