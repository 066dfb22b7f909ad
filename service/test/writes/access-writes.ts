import { Secret, TOTP } from 'otpauth';
import { expect } from 'vitest';
import { createOneTimeCodes } from '../../src/access/credentials.ts';
import { createLeakRecorder, revokeKey, updateKey } from '../../src/access/key-store.ts';
import { startKeyUsage } from '../../src/access/key-usage.ts';
import { createLinks } from '../../src/access/links.ts';
import { createLockout } from '../../src/access/lockout.ts';
import { reencrypt } from '../../src/access/secret-box.ts';
import { createSessions, hashToken } from '../../src/access/sessions.ts';
import { createSignIn } from '../../src/access/sign-in.ts';
import { createUserTokens } from '../../src/access/user-tokens.ts';
import { deleteUser, insertUser, updateUser, type User } from '../../src/access/user.ts';
import { runOnce, runOnceDetached } from '../../src/http/operations.ts';
import type { Database, Queries } from '../../src/store/database.ts';
import { createKeyedRequest } from '../keyed-request.ts';
import { makeId, makeName } from '../tenant-rows.ts';
import { accountId, ids, name, openText, place, scope } from '../twin-accounts.ts';
import { audit, clock, log, makeNewId, type WriteCases } from './write-case.ts';

const [keyId = '', otherKeyId = ''] = ids('key', 1, 2);
const user = {
  accountId,
  id: makeId('user', place),
  email: name,
  name: 'New name',
  role: 'owner',
  password: null,
  codesSecret: null,
  codesActive: false,
  createdAtMs: 0,
} as unknown as User;

const secret = 'JBSWY3DPEHPK3PXP';
const totp = new TOTP({ secret: Secret.fromBase32(secret), label: name });
const codeStep = totp.counter({ timestamp: clock.nowMs() });
const redeemCode = (queries: Queries) =>
  createOneTimeCodes(openText as never, clock).redeem(
    queries,
    { ...user, codesSecret: secret },
    totp.generate({ timestamp: clock.nowMs() }),
  );

/** Makes the first session of each account one with this token. */
const sessionToken = `${accountId}.token`;
const sessions = [
  `UPDATE sessions SET hash = '${hashToken(sessionToken)}' WHERE right(hash, 1) = '1'`,
  `UPDATE sessions SET seen_at = '2026-06-01T11:00:00Z'`,
];
const openSignIn = (database: Database) =>
  createSignIn({
    database,
    clock,
    sessions: createSessions(database, clock),
  } as never);
const openLinks = (database: Database) =>
  createLinks({
    database,
    clock,
    makeId: makeNewId,
    audit,
    sessions: createSessions(database, clock),
    passwords: { hash: () => Promise.resolve('hash') } as never,
  });

/** Reads how often people have failed to sign in, without those that the database has from the start. */
const readFailures = async (queries: Queries): Promise<number | undefined> => {
  const [row] = await queries.query<{ sum: number }>(
    `SELECT sum(failures)::bigint AS sum FROM sign_in_attempts WHERE length(subject) = 64`,
  );
  return row?.sum;
};

/** Gives each account two secrets for user tokens, one per environment, and another one. */
const userTokenSecrets = (expiresAt: string): string =>
  `UPDATE secrets SET purpose = CASE right(id, 1) WHEN '2' THEN 'other' ELSE 'user_token' END,
    id = CASE right(id, 1) WHEN '3' THEN 'live/3' ELSE 'sandbox/' || right(id, 1) END, expires_at = ${expiresAt}
    WHERE account_id IN ('acc_home1', 'acc_twin1')`;
const createUserTokenSecret = async (queries: Queries, database: Database) => {
  const quotas = { check: () => Promise.resolve() } as never;
  const tokens = createUserTokens({ database, box: openText as never, clock, audit, quotas });
  await tokens.createSecret({ queries, scope, actor: name }, 60);
  await queries.query(`DELETE FROM secrets WHERE created_at = $1`, [new Date(clock.nowMs())]);
};

const request = createKeyedRequest('key');
const onceDeps = (queries: Queries) => ({ queries, box: openText as never, clock });
/** Requests that came at the same time: one with the same key in the other account and environment. */
const answers = [
  `UPDATE idempotency_keys SET answer = NULL, created_at = '2026-06-01T12:00:00Z'`,
  `UPDATE idempotency_keys SET key = 'key' WHERE right(key, 1) = '1'`,
  `DELETE FROM idempotency_keys WHERE account_id = 'acc_home1' AND environment = 'sandbox' AND key = 'key'`,
];
const failOnce = async (queries: Queries, meanwhile = 'SELECT 1') => {
  const work = async () => {
    await queries.query(meanwhile);
    throw new Error('failed');
  };
  await expect(runOnceDetached(onceDeps(queries), scope, request, work)).rejects.toThrow('failed');
};

/** Keys, and what belongs to users: sessions, links, codes and failed attempts. */
export const accessWrites: WriteCases = {
  'changing a key': {
    write: (queries) =>
      updateKey(queries, scope, { id: keyId, allowed_origins: ['https://a.example'] }),
    changes: [`keys ${keyId}`],
  },
  'revoking a key': {
    write: (queries) => revokeKey(queries, scope, keyId, clock.nowMs()),
    changes: [`keys ${keyId}`],
  },
  "recording two keys' use": {
    write: async (_, own) => {
      const usage = startKeyUsage(own, clock, log);
      for (const id of [keyId, otherKeyId])
        usage.touch({ ...scope, keyId: id } as Parameters<typeof usage.touch>[0]);
      await usage.stop();
    },
    changes: [`keys ${keyId}`, `keys ${otherKeyId}`],
  },
  'recording a leaked key': {
    write: (_, own) =>
      createLeakRecorder(own, { record: () => Promise.resolve() } as never, clock)(
        { ...scope, keyId } as never,
        'https://a.example',
        'req_1',
      ),
    changes: [`keys ${keyId}`],
  },
  "ending all of a user's sessions": {
    write: (queries) => createSessions(queries, clock).endAll(queries, user),
    changes: [`sessions ${name}`],
  },
  'starting a session deletes those of the account that have expired': {
    prepare: [
      `UPDATE sessions SET expires_at = '2026-01-01T00:00:00Z' WHERE account_id = 'acc_twin1' OR hash LIKE '%2'`,
    ],
    write: async (queries) => {
      await createSessions(queries, clock).begin(queries, user);
      await queries.query(
        `DELETE FROM sessions WHERE account_id = 'acc_home1' AND hash NOT LIKE 's1b11ngs%'`,
      );
    },
    changes: [`sessions ${makeName({ ...place, n: 2 })}`],
  },
  'adding a user ends the links for the first owner': {
    prepare: [`UPDATE user_links SET user_id = NULL WHERE hash LIKE 's1b11ngs%2'`],
    write: async (queries) => {
      await insertUser(queries, { ...user, id: 'usr_new', email: 'new@example.com' });
      await queries.query(`DELETE FROM users WHERE id = 'usr_new'`);
      await queries.query(`DELETE FROM sign_in_names WHERE user_id = 'usr_new'`);
    },
    changes: [
      `user_links ${makeName({ ...place, n: 2 })}`,
      `user_links acc_twin1 ${makeName({ ...place, n: 2 })}`,
    ],
  },
  'changing a user': {
    write: (queries) => updateUser(queries, user, { name: user.name }),
    changes: [`users ${user.id}`],
  },
  'deleting a user': {
    write: (queries) => deleteUser(queries, user),
    changes: [
      `sessions ${name}`,
      `sign_in_names ${name} ${accountId}`,
      `user_links ${name}`,
      `users ${user.id}`,
    ],
  },
  'using a session': {
    prepare: sessions,
    write: (queries) => createSessions(queries, clock).find(sessionToken),
    changes: [`sessions ${hashToken(sessionToken)}`],
  },
  'confirming a session': {
    prepare: sessions,
    write: (queries) => createSessions(queries, clock).confirm(sessionToken),
    changes: [`sessions ${hashToken(sessionToken)}`],
  },
  'ending a session': {
    prepare: sessions,
    write: (queries) => createSessions(queries, clock).end(queries, sessionToken),
    changes: [`sessions ${hashToken(sessionToken)}`],
  },
  'using a one-time code': {
    prepare: [`UPDATE users SET codes_step = 0`],
    write: (queries) => redeemCode(queries),
    changes: [`users ${user.id}`],
  },
  'using a one-time code again': {
    prepare: [`UPDATE users SET codes_step = ${codeStep}`],
    write: (queries) => redeemCode(queries),
    changes: [],
  },
  'signing in with a link': {
    prepare: [`UPDATE users SET last_sign_in_at = NULL`],
    write: async (queries, own) => {
      await openSignIn(own).beginByLink(user, '192.0.2.1');
      await queries.query(`DELETE FROM sessions WHERE length(hash) = 64`);
      await queries.query(`DELETE FROM sign_in_attempts WHERE length(subject) = 64`);
    },
    changes: [`users ${user.id}`],
  },
  'signing in with a password that has been replaced': {
    prepare: [`UPDATE users SET password = 'new'`],
    write: async (queries, own) => {
      await expect(openSignIn(own).beginByLink(user, '192.0.2.1')).rejects.toThrow('changed');
      await queries.query(`DELETE FROM sign_in_attempts WHERE length(subject) = 64`);
    },
    changes: [],
  },
  'signing in after a failure clears only that person’s failed attempts': {
    write: async (queries) => {
      const { count } = createLockout(queries, clock);
      const attempt = { email: 'ann@example.com', ip: '192.0.2.1' };
      await count({ email: 'bob@example.com', ip: '192.0.2.2' });
      const before = await readFailures(queries);
      await count(attempt);
      const counted = await count(attempt);
      if (!('succeed' in counted)) throw new Error('The person is locked out.');
      await counted.succeed();
      expect([await readFailures(queries), before]).toEqual([4, 3]);
      await queries.query(`DELETE FROM sign_in_attempts WHERE length(subject) = 64`);
    },
    changes: [],
  },
  'making a link for a user': {
    write: async (queries, own) => {
      await openLinks(own).make(queries, user);
      await queries.query(`DELETE FROM user_links WHERE length(hash) = 64`);
    },
    changes: [`user_links ${name}`],
  },
  'using a link': {
    prepare: [
      `UPDATE user_links SET hash = '${hashToken(sessionToken)}' WHERE right(hash, 1) = '1'`,
    ],
    write: (_, own) =>
      openLinks(own).redeem(sessionToken, {
        email: name,
        name: 'Ann',
        password: 'tall-otter-39-lamp',
      }),
    changes: [`sessions ${name}`, `user_links ${hashToken(sessionToken)}`, `users ${user.id}`],
  },
  'making a link for the first owner': {
    prepare: [
      'DELETE FROM users',
      `UPDATE user_links SET expires_at = '2026-01-01T00:00:00Z' WHERE hash LIKE 's1b11ngs%2'`,
    ],
    write: async (queries, own) => {
      await openLinks(own).makeForFirstOwner();
      await queries.query(`DELETE FROM user_links WHERE length(hash) = 64`);
    },
    changes: [
      `user_links ${makeName({ ...place, n: 2 })}`,
      `user_links acc_twin1 ${makeName({ ...place, n: 2 })}`,
    ],
  },
  'making a secret for user tokens ends those of its environment': {
    prepare: [userTokenSecrets('NULL')],
    write: (queries, own) => createUserTokenSecret(queries, own),
    changes: ['secrets user_token sandbox/1'],
  },
  'making a secret for user tokens deletes those that have expired': {
    prepare: [
      userTokenSecrets(
        `CASE right(id, 1) WHEN '3' THEN timestamptz '2026-07-01T00:00:00Z' ELSE timestamptz '2026-01-01T00:00:00Z' END`,
      ),
    ],
    write: (queries, own) => createUserTokenSecret(queries, own),
    changes: ['secrets user_token sandbox/1'],
  },
  'storing the answer to an idempotency key': {
    prepare: answers,
    write: (queries) =>
      runOnce(onceDeps(queries), scope, request, () => Promise.resolve({ status: 201, body: {} })),
    changes: ['idempotency_keys sandbox key'],
  },
  'deleting the answers to old idempotency keys': {
    prepare: [
      ...answers,
      `UPDATE idempotency_keys SET created_at = '2026-05-01T00:00:00Z' WHERE right(key, 1) = '2'`,
    ],
    write: (queries) =>
      runOnce(onceDeps(queries), scope, request, () => Promise.resolve({ status: 201 })),
    changes: [
      'idempotency_keys sandbox key',
      `idempotency_keys sandbox ${makeName({ ...place, n: 2 })}`,
      `idempotency_keys live ${makeName({ ...place, environment: 'live', n: 2 })}`,
    ],
  },
  'giving up an idempotency key whose work has failed': {
    prepare: answers,
    write: (queries) => failOnce(queries),
    changes: [],
  },
  'giving up an idempotency key that another request has taken over': {
    prepare: answers,
    write: (queries) =>
      failOnce(
        queries,
        `UPDATE idempotency_keys SET created_at = now()
          WHERE account_id = 'acc_home1' AND environment = 'sandbox' AND key = 'key'`,
      ),
    changes: ['idempotency_keys sandbox key'],
  },
  'encrypting secrets again leaves one that has changed meanwhile': {
    prepare: [
      `UPDATE secrets SET sealed = '1.old' WHERE account_id = 'acc_home1' AND right(id, 1) = '1'`,
    ],
    write: async (queries, own) => {
      const query: Database['query'] = async (text, params) => {
        const rows = await own.query(text, params);
        if (text.startsWith('SELECT') && text.includes('FROM secrets'))
          await queries.query(`UPDATE secrets SET sealed = 'changed' WHERE sealed = '1.old'`);
        return rows as never;
      };
      const box = { open: (text: string) => text, seal: () => '1.new' };
      await reencrypt({ ...own, query }, box);
      const rows = await queries.query(`SELECT FROM secrets WHERE sealed = 'changed'`);
      expect(rows).toHaveLength(1);
    },
    changes: [`secrets ${name} ${name}`],
  },
};
