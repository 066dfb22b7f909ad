import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMac } from '../../src/access/secret-box.ts';
import { createPlayerTokens } from '../../src/access/player-tokens.ts';
import { createSessions, hashToken } from '../../src/access/sessions.ts';
import { createLeakRecorder, revokeKey, updateKey } from '../../src/access/key-store.ts';
import { startKeyUsage } from '../../src/access/key-usage.ts';
import { deleteUser, updateUser, type User } from '../../src/access/user.ts';
import { startLastOffers } from '../../src/demand/intake/last-offers.ts';
import { claimChore } from '../../src/history/claim-chore.ts';
import { createIds } from '../../src/platform/ids.ts';
import { createResourceStore } from '../../src/resource/resource-store.ts';
import { expireRewards } from '../../src/reward/expire-rewards.ts';
import type { Database, Queries } from '../../src/store/database.ts';
import { release } from '../../src/webhook/delivery-store.ts';
import {
  claimProbe,
  clearFailures,
  restartFailurePeriod,
} from '../../src/webhook/endpoint-health.ts';
import { setAccountRetention } from '../../src/store/account-retention.ts';
import { setGrantBudget, takeFromBudget } from '../../src/wallet/grant-budgets.ts';
import { createRecoveryStep } from '../../src/webhook/recovery.ts';
import { expireWebhookSecrets } from '../../src/webhook/webhook-secrets.ts';
import { createManualClock } from '../manual-clock.ts';
import { makeId, makeName } from '../tenant-rows.ts';
import { accountId, ids, name, openTwinDatabase, place, scope } from '../twin-accounts.ts';

// Each write must change exactly the rows it is for. See twin-accounts.ts.

const clock = createManualClock(Date.parse('2026-06-01T12:00:00Z'));
const log = pino({ level: 'silent' });
const [keyId = '', otherKeyId = ''] = ids('key', 1, 2);
const [placementId = ''] = ids('placement', 1);
const webhook = { accountId, webhookId: makeId('webhook', place) };
const user = {
  accountId,
  id: makeId('user', place),
  email: name,
  name: 'New name',
  role: 'owner',
  password: null,
  codesSecret: null,
  codesActive: false,
} as unknown as User;
const resources = createResourceStore(
  clock,
  createIds(clock, (size) => new Uint8Array(size)),
);

let database: Database;
beforeAll(async () => {
  database = await openTwinDatabase();
});
afterAll(() => database.close());

interface Case {
  /** SQL that makes rows subject to the write. */
  prepare?: string[];
  write(queries: Queries, database: Database): Promise<unknown>;
  /** The rows that the write changes, adds or deletes: the table and the id. */
  changes: string[];
}

const allLate = (condition: string) =>
  `UPDATE decisions SET issued_at = '2026-05-01T00:00:00Z', reward_state = 'pending',
    late_at = CASE WHEN ${condition} THEN timestamptz '2026-06-01T11:00:00Z' ELSE timestamptz '2026-06-01T13:00:00Z' END
    WHERE account_id IN ('acc_home1', 'acc_twin1')`;
const decisionIds = ids('decision', 1, 2, 3);

const tokenSecret = 'the secret of guests';
/** A token as the service makes it. */
const guestText = 'ply.e30.guest';
const guestToken = `${guestText}.${createMac(tokenSecret)(`${accountId} sandbox ${guestText}`)}`;
/** Makes the first row of each account and environment that of one guest, with the same code and token. */
const guests = [
  `UPDATE link_codes SET viewer = 'guest', hash = '${hashToken(`${accountId} sandbox C0DE2345`)}'
    WHERE right(viewer, 1) = '1'`,
  `UPDATE player_tokens SET viewer = 'guest', hash = '${hashToken(guestToken)}',
    used_at = '2026-01-01T00:00:00Z' WHERE right(viewer, 1) = '1'`,
];
const openTokens = (own: Database) =>
  createPlayerTokens({
    database: own,
    clock,
    tokenSecret,
    makeId: createIds(clock, (size) => new Uint8Array(size)),
    pseudonym: () => 'guest',
  });

const budgetPart = { type: 'coins', amount: 10, durationS: 10 };
/** Each account and environment has a budget for this type, of which exactly this much is left. */
const budgets = [
  `UPDATE grant_budgets SET type = 'coins' WHERE right(type, 1) = '1'`,
  'UPDATE grant_budgets SET amount = 10, duration_s = 10, used_amount = 0, used_duration_s = 0',
];

const cases: Record<string, Case> = {
  "using a guest's code": {
    prepare: guests,
    write: async (queries, own) => {
      expect(await openTokens(own).link(scope, 'code-2345')).toBeDefined();
      await queries.query(
        `DELETE FROM player_tokens WHERE account_id = $1 AND viewer = 'guest' AND hash <> $2`,
        [accountId, hashToken(guestToken)],
      );
    },
    changes: ['link_codes sandbox guest'],
  },
  "using a guest's expired code": {
    prepare: [...guests, `UPDATE link_codes SET expires_at = '2026-01-01T00:00:00Z'`],
    write: (_, own) => openTokens(own).link(scope, 'code-2345'),
    changes: [],
  },
  "replacing a guest's code": {
    prepare: guests,
    write: (queries, own) => openTokens(own).createLinkCode(queries, scope, 'ply_1'),
    changes: ['link_codes sandbox guest'],
  },
  "revoking a guest's devices": {
    prepare: guests,
    write: (queries, own) => openTokens(own).revoke(queries, scope, 'ply_1'),
    changes: ['link_codes sandbox guest', 'player_tokens sandbox guest'],
  },
  "recording a guest's visit": {
    prepare: guests,
    write: (_, own) => openTokens(own).find(scope, guestToken),
    changes: ['player_tokens sandbox guest'],
  },
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
  'replacing a placement': {
    write: (queries) =>
      resources.replace(queries, scope, 'placement', placementId, { name: 'a' } as never),
    changes: ['config_versions acc_home1', `resources ${placementId}`],
  },
  'archiving a placement': {
    write: (queries) => resources.archive(queries, scope, 'placement', placementId),
    changes: ['config_versions acc_home1', `resources ${placementId}`],
  },
  'replacing an archived placement': {
    prepare: [`UPDATE resources SET archived_at = now()`],
    write: (queries) =>
      resources.replace(queries, scope, 'placement', placementId, { name: 'a' } as never),
    changes: [],
  },
  "clearing a webhook's failures": {
    write: (queries) => clearFailures(queries, webhook),
    changes: [`webhook_failures ${webhook.webhookId}`],
  },
  "restarting a webhook's failure period": {
    write: (queries) => restartFailurePeriod(queries, webhook, clock.nowMs()),
    changes: [`webhook_failures ${webhook.webhookId}`],
  },
  'claiming the probe of a webhook': {
    write: (queries) => claimProbe(queries, webhook, clock.nowMs(), 1_000),
    changes: [`webhook_failures ${webhook.webhookId}`],
  },
  'ending the lease of a delivery': {
    prepare: [`UPDATE delivery_queue SET lease_until = now(), attempt = 1`],
    write: (queries) =>
      release(queries, { accountId, id: makeId('delivery', place), attempt: 1 } as never),
    changes: [`delivery_queue ${makeId('delivery', place)}`],
  },
  'ending the lease of an earlier attempt': {
    prepare: [`UPDATE delivery_queue SET lease_until = now(), attempt = 2`],
    write: (queries) =>
      release(queries, { accountId, id: makeId('delivery', place), attempt: 1 } as never),
    changes: [],
  },
  "expiring a webhook's secrets": {
    prepare: [
      `UPDATE secrets SET purpose = CASE right(id, 1) WHEN '2' THEN 'other' ELSE 'webhook' END,
        id = CASE right(id, 1) WHEN '3' THEN 'whk_3/a' ELSE 'whk_1/' || right(id, 1) END
        WHERE account_id IN ('acc_home1', 'acc_twin1')`,
    ],
    write: (queries) =>
      expireWebhookSecrets(queries, { accountId, webhookId: 'whk_1' }, clock.nowMs()),
    changes: ['secrets webhook whk_1/1'],
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
  'expiring the late rewards of one account, but not the one between them': {
    prepare: [
      allLate(`account_id = 'acc_home1' AND id <> '${decisionIds[1]}' AND environment = 'sandbox'`),
    ],
    write: (_, own) => expireRewards(own, clock),
    changes: [`decisions sandbox ${decisionIds[0]}`, `decisions sandbox ${decisionIds[2]}`],
  },
  'expiring late rewards leaves settled ones': {
    prepare: [
      allLate('true'),
      `UPDATE decisions SET reward_state = 'earned' WHERE id <> '${decisionIds[1]}' OR account_id = 'acc_twin1'`,
    ],
    write: (_, own) => expireRewards(own, clock),
    changes: [`decisions sandbox ${decisionIds[1]}`],
  },
  'claiming a chore that is due': {
    prepare: [`UPDATE chores SET begun_at = '2026-06-01T11:00:00Z'`],
    write: (queries) => claimChore(queries, name, 1_000, clock.nowMs()),
    changes: [`chores ${name}`],
  },
  'claiming a chore that is not due': {
    prepare: [`UPDATE chores SET begun_at = '2026-06-01T12:00:00Z'`],
    write: (queries) => claimChore(queries, name, 60_000, clock.nowMs()),
    changes: [],
  },
  'setting how long an account keeps its data': {
    prepare: [],
    write: (queries) =>
      setAccountRetention(
        queries,
        accountId,
        { decisionsMs: undefined, auditMs: undefined },
        { decision_days: 77, audit_days: 77 },
      ),
    changes: ['accounts acc_home1'],
  },
  'setting a budget for what users give': {
    prepare: budgets,
    write: (queries) =>
      setGrantBudget(queries, scope, { ...budgetPart, amount: 77, durationS: 77 }, clock.nowMs()),
    changes: ['grant_budgets sandbox coins'],
  },
  'taking from a budget': {
    prepare: budgets,
    write: (queries) => takeFromBudget(queries, scope, budgetPart, clock.nowMs()),
    changes: ['grant_budgets sandbox coins'],
  },
  'taking more time from a budget than is left': {
    prepare: budgets,
    write: (queries) =>
      takeFromBudget(queries, scope, { ...budgetPart, durationS: 11 }, clock.nowMs()).catch(
        (error: unknown) => expect(error).toMatchObject({ code: 'quota_exceeded' }),
      ),
    changes: [],
  },
  'recording when a creative was last offered': {
    write: async (_, own) => {
      const offers = startLastOffers({ database: own, clock, log });
      offers.record(accountId, makeId('creative', place));
      await offers.stop();
    },
    changes: [`creative_origins ${makeId('creative', place)}`],
  },
};

test.each(Object.entries(cases))(
  '%s changes no other row',
  async (_, { prepare = [], write, changes }) => {
    const undo = new Error('undo');
    let changedRows: string[] = [];
    const transaction = database.transaction(async (queries) => {
      for (const statement of prepare) await queries.query(statement);
      const before = await readRows(queries);
      await write(queries, {
        ...database,
        ...queries,
        transaction: (work) => work(queries),
      });
      const after = await readRows(queries);
      changedRows = [...new Set([...before.keys(), ...after.keys()])].filter(
        (key) => before.get(key) !== after.get(key),
      );
      throw undo;
    });
    await expect(transaction).rejects.toBe(undo);
    expect(changedRows.map((key) => key.replace(/ (acc_home1|service) /, ' ')).toSorted()).toEqual(
      changes.toSorted(),
    );
  },
);

test('recovery queues only events of the webhook’s own scope, types and outcomes', async () => {
  const undo = new Error('undo');
  const results: unknown[] = [];
  const events = ids('webhookEvent', 1, 2, 3);
  const rewarded = 'decision.rewarded';
  const step = createRecoveryStep({
    clock,
    makeId: createIds(clock, (size) => crypto.getRandomValues(new Uint8Array(size))),
    resources,
  });
  // The neighbors' ids are from a far future.
  const period = { since: '2026-01-01T00:00:00.000Z', until: '2099-12-31T00:00:00.000Z' };
  const recover = async (
    queries: Queries,
    types: string[],
    filter: Record<string, string> = {},
  ): Promise<unknown> => {
    await queries.query(`UPDATE webhook_events SET type = ($1::text[])[right(id, 1)::integer]`, [
      types,
    ]);
    await queries.query('DELETE FROM delivery_queue WHERE webhook_id = $1', [webhook.webhookId]);
    const request = { webhook_id: webhook.webhookId, ...period, ...filter };
    const result = await step(queries, { scope, id: '', request, cursor: null, createdAtMs: 0 });
    const rows = await queries.query<{ account_id: string; environment: string; event_id: string }>(
      'SELECT account_id, environment, event_id FROM delivery_queue WHERE webhook_id = $1 ORDER BY event_id',
      [webhook.webhookId],
    );
    for (const row of rows)
      expect(row).toMatchObject({ account_id: accountId, environment: 'sandbox' });
    expect(result.counts?.['queued']).toBe(rows.length);
    return rows.map((row) => row.event_id);
  };
  const transaction = database.transaction(async (queries) => {
    await queries.query(`UPDATE finished_deliveries SET state = 'failed'`);
    results.push(
      await recover(queries, [rewarded, 'decision.served', rewarded]),
      await recover(queries, [rewarded, rewarded, rewarded], { state: 'missed' }),
      await recover(queries, [rewarded, rewarded, rewarded], { state: 'failed' }),
      await recover(queries, [rewarded, rewarded, rewarded], { until: period.since }),
    );
    // Each webhook has received the event with its own number.
    await queries.query(`UPDATE finished_deliveries SET state = 'delivered'`);
    results.push(
      await recover(queries, [rewarded, rewarded, rewarded]),
      await recover(queries, [rewarded, rewarded, rewarded], { state: 'delivered' }),
    );
    throw undo;
  });
  await expect(transaction).rejects.toBe(undo);
  const [first, second, third] = events;
  expect(results).toEqual([[first, third], [second, third], [first], [], [second, third], [first]]);
});

/** Reads the rows of the tables that these writes change, by table, account and id. */
async function readRows(queries: Queries): Promise<Map<string, string>> {
  const keys = {
    accounts: `''`,
    chores: 'name',
    config_versions: `''`,
    creative_origins: 'creative_id',
    decisions: `environment || ' ' || id`,
    delivery_queue: 'id',
    grant_budgets: `environment || ' ' || type`,
    keys: 'id',
    link_codes: `environment || ' ' || viewer`,
    player_tokens: `environment || ' ' || viewer`,
    resources: 'id',
    secrets: `purpose || ' ' || id`,
    sessions: 'hash',
    sign_in_names: `email || ' ' || user_account_id`,
    user_links: 'hash',
    users: 'id',
    webhook_failures: 'webhook_id',
  };
  const rows = await queries.query<{ key: string; value: string }>(
    Object.entries(keys)
      .map(
        ([table, id]) =>
          `SELECT trim(concat_ws(' ', '${table}', account_id, ${id})) AS key, t::text AS value FROM ${table} AS t`,
      )
      .join(' UNION ALL '),
  );
  return new Map(rows.map(({ key, value }) => [key, value]));
}
