import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findUser, type User } from '../../src/access/user.ts';
import { lockConfiguration } from '../../src/store/config-version.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { password, type PanelClient, signInAs, signInOwner } from './panel-client.ts';

let running: InProcessService;
let owner: PanelClient;
/** The user as a session knew the user before the changes. */
let known: User;
beforeAll(async () => {
  running = await startInProcess({ RATE_LIMITS: 'off' });
  owner = await signInOwner(running);
});
afterAll(() => running.stop());
beforeEach(async () => {
  const { id } = await signInAs(running, owner, 'owner');
  known = await read(id);
});

async function read(id: string): Promise<User> {
  const { accountId } = (
    await running.service.database.query<{ accountId: string }>(
      'SELECT account_id AS "accountId" FROM users WHERE id = $1',
      [id],
    )
  )[0] ?? { accountId: '' };
  const user = await findUser(running.service.database, accountId, id);
  if (!user) throw new Error(`There is no user ${id}.`);
  return user;
}

/** Changes the user as an owner does. */
const manage = (change: { name?: string; role?: 'viewer' }) =>
  running.service.database.transaction(async (queries) => {
    await lockConfiguration(queries, known.accountId);
    const scope = { accountId: known.accountId, environment: 'live' as const };
    const operation = { queries, scope, actor: 'owner@example.com' };
    return running.service.users.manager.update(
      operation,
      { id: known.id, ifMatch: undefined },
      change,
    );
  });
const account = () => running.service.users.ownAccount;

/** Every writer of a user's row, with the columns that it writes. */
const writers = {
  rename: { run: () => manage({ name: 'New name' }), writes: ['name'] },
  demote: { run: () => manage({ role: 'viewer' }), writes: ['role'] },
  'start codes': { run: () => account().startCodeSetup(known), writes: ['codesSecret'] },
  'turn codes off': { run: () => account().disableCodes(known), writes: ['codesSecret'] },
  'change the password': {
    run: () => account().changePassword(known, 'purple elephant drinks tea'),
    writes: ['password'],
  },
  'redeem a link': {
    run: async () => {
      const token = await running.service.database.transaction((queries) =>
        running.service.users.links.make(queries, known),
      );
      return running.service.users.links.redeem(token, {
        email: known.email,
        name: 'From a link',
        password: 'yellow giraffe reads books',
      });
    },
    writes: ['password', 'name', 'codesSecret'],
  },
} satisfies Record<string, { run: () => Promise<unknown>; writes: (keyof User)[] }>;

describe('a change made with an outdated user keeps what was changed meanwhile', () => {
  const names = Object.keys(writers) as (keyof typeof writers)[];
  const pairs = names.flatMap((first) =>
    names.filter((second) => second !== first).map((second) => ({ first, second })),
  );
  test.each(pairs)('$first, then $second', async ({ first, second }) => {
    await writers[first].run();
    const between = await read(known.id);
    await writers[second].run().catch(() => undefined);
    const after = await read(known.id);
    const untouched = (['name', 'role', 'password', 'codesSecret', 'codesActive'] as const).filter(
      (column) => !(writers[second].writes as string[]).includes(column),
    );
    for (const column of untouched)
      expect([column, after[column]]).toEqual([column, between[column]]);
  });
  test('in parallel', async () => {
    const before = await read(known.id);
    await Promise.all([writers.rename.run(), writers.demote.run(), writers['start codes'].run()]);
    expect(await read(known.id)).toMatchObject({ name: 'New name', role: 'viewer' });
    expect((await read(known.id)).codesSecret).not.toBe(before.codesSecret);
  });
});

test('a request in progress cannot change the password after another change of it', async () => {
  await account().changePassword(known, 'purple elephant drinks tea');
  const changed = await read(known.id);
  await expect(account().changePassword(known, 'the attacker wants this')).rejects.toMatchObject({
    code: 'conflict',
  });
  expect((await read(known.id)).password).toBe(changed.password);
});

/** Makes a change just before the next transaction begins, as if it had been committed by then. */
function changeBeforeNextTransaction(change: () => Promise<unknown>): void {
  const { database } = running.service;
  const { transaction } = database;
  database.transaction = async (work, options) => {
    database.transaction = transaction;
    await change();
    return transaction.call(database, work, options) as never;
  };
}

const remove = () =>
  running.service.database.transaction(async (queries) => {
    const scope = { accountId: known.accountId, environment: 'live' as const };
    const operation = { queries, scope, actor: 'owner@example.com' };
    await running.service.users.manager.remove(operation, { id: known.id, ifMatch: undefined });
  });

const signIns = {
  'with the old password': () =>
    running.service.users.signIn.byPassword({ email: known.email, password, ip: '192.0.2.1' }),
  'at the OpenID provider': () =>
    running.service.users.signIn.bySingleSignOn({
      email: known.email,
      authenticatedAtMs: undefined,
      ip: '192.0.2.1',
    }),
  'by an earlier link': () =>
    running.service.users.signIn
      .beginByLink(known, '192.0.2.1')
      .catch((error: { code: string }) => ({ failure: error.code })),
};
const endings = {
  'change the password': writers['change the password'].run,
  'redeem a link': writers['redeem a link'].run,
  'be removed': remove,
};

test.each(
  Object.entries(signIns).flatMap(([name, signIn]) =>
    Object.entries(endings).map(([ending, run]) => ({ name, ending, signIn, run })),
  ),
)(
  'a sign-in $name that is in progress is not a session of a user who has come to $ending',
  async ({ signIn, run }) => {
    changeBeforeNextTransaction(run);
    expect(await signIn()).toHaveProperty('failure');
    const sessions = await running.service.database.query(
      'SELECT 1 FROM sessions WHERE user_id = $1',
      [known.id],
    );
    // Whoever changes the own password stays signed in.
    expect(sessions).toHaveLength(run === endings['change the password'] ? 1 : 0);
  },
);
