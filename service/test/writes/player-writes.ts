import { createPlayerTokens } from '../../src/access/player-tokens.ts';
import { createMac } from '../../src/access/secret-box.ts';
import { hashToken } from '../../src/access/sessions.ts';
import { deleteOldRows } from '../../src/history/delete-old-rows.ts';
import { cancelJob, runStep } from '../../src/history/jobs.ts';
import { claimChore } from '../../src/history/claim-chore.ts';
import { expireRewards } from '../../src/reward/expire-rewards.ts';
import { rotateReceiptKey } from '../../src/reward/receipt.ts';
import type { RecordedEvent } from '../../src/decision/decision-state.ts';
import { appendEvents } from '../../src/reward/timeline.ts';
import { writeTransitions } from '../../src/reward/transitions.ts';
import { rollUpDays } from '../../src/history/rollup.ts';
import { setAccountRetention } from '../../src/store/account-retention.ts';
import type { Database, Queries } from '../../src/store/database.ts';
import { setGrantBudget, takeFromBudget } from '../../src/wallet/grant-budgets.ts';
import { expect } from 'vitest';
import { accountId, giveAll, ids, name, openText, scope } from '../twin-accounts.ts';
import { clock, makeNewId, type WriteCases } from './write-case.ts';

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
    makeId: makeNewId,
    pseudonym: () => 'guest',
  });

/** The live environments have a decision with the same id. */
const sameDecisions = [
  `UPDATE decisions SET id = '${decisionIds[0]}' WHERE environment = 'live' AND right(id, 1) = '1'`,
];
const expireDecision = (queries: Queries) => {
  const before = { id: decisionIds[0], servedAtMs: null, rewardState: 'pending' };
  const after = {
    ...before,
    rewardState: 'expired',
    settledAtMs: Date.parse('2099-06-01T00:00:01Z'),
  };
  return writeTransitions(queries, scope, [{ before, after } as never]);
};
const jobId = name;
/** Deletes all that is too old. Everything that no case has changed is from the future. */
const sweep = (database: Database) =>
  deleteOldRows(database, clock.nowMs(), {} as never, new AbortController().signal);

const budgetPart = { type: 'coins', amount: 10, durationS: 10 };
/** Each account and environment has a budget for this type, of which exactly this much is left. */
const budgets = [
  `UPDATE grant_budgets SET type = 'coins' WHERE right(type, 1) = '1'`,
  'UPDATE grant_budgets SET amount = 10, duration_s = 10, used_amount = 0, used_duration_s = 0',
];

/** Players: their rewards, devices and budgets, and how long their records are kept. */
export const playerWrites: WriteCases = {
  "using a guest's code": {
    prepare: guests,
    write: async (queries, own) => {
      expect(await openTokens(own).link(scope, 'code-2345')).toBeDefined();
      await queries.query(
        `DELETE FROM player_tokens WHERE account_id = $1 AND viewer = 'guest' AND hash <> $2`,
        [accountId, hashToken(guestToken)],
      );
    },
    changes: ['link_codes sandbox guest', 'viewers sandbox guest'],
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
    changes: [
      'link_codes sandbox guest',
      `player_tokens sandbox ${hashToken(guestToken)}`,
      'viewers sandbox guest',
    ],
  },
  "recording a guest's visit": {
    prepare: guests,
    write: (_, own) => openTokens(own).find(scope, guestToken),
    changes: [`player_tokens sandbox ${hashToken(guestToken)}`],
  },
  'expiring the late rewards of one account, but not the one between them': {
    prepare: [
      allLate(`account_id = 'acc_home1' AND id <> '${decisionIds[1]}' AND environment = 'sandbox'`),
    ],
    write: (_, own) => expireRewards(own, clock),
    changes: [
      `decisions sandbox ${decisionIds[0]}`,
      `decisions sandbox ${decisionIds[2]}`,
      'rollup_deltas (new)',
    ],
  },
  'expiring late rewards leaves settled ones': {
    prepare: [
      allLate('true'),
      `UPDATE decisions SET reward_state = 'earned' WHERE id <> '${decisionIds[1]}' OR account_id = 'acc_twin1'`,
    ],
    write: (_, own) => expireRewards(own, clock),
    changes: [`decisions sandbox ${decisionIds[1]}`, 'rollup_deltas (new)'],
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
  'appending an event to a timeline': {
    write: (queries) => {
      const event = {
        id: 'evt',
        decisionId: decisionIds[0],
        type: 'start',
        occurredAtMs: clock.nowMs(),
      };
      const known = new Map(decisionIds.map((id) => [id, []]));
      const report = {
        ...event,
        receivedAtMs: clock.nowMs(),
        offsetMs: 0,
        clamped: false,
      } as RecordedEvent;
      return appendEvents(queries, accountId, [report], known).written;
    },
    changes: [`timelines ${decisionIds[0]}`],
  },
  'changing the state of a decision': {
    prepare: sameDecisions,
    write: (queries) => expireDecision(queries),
    changes: [`decisions sandbox ${decisionIds[0]}`],
  },
  'changing the state of a decision that has been served meanwhile': {
    prepare: [...sameDecisions, 'UPDATE decisions SET served_at = issued_at'],
    write: (queries) => expect(expireDecision(queries)).rejects.toThrow('Updated 0 locked'),
    changes: [],
  },
  'changing the state of a decision that has been settled meanwhile': {
    prepare: [...sameDecisions, `UPDATE decisions SET reward_state = 'earned'`],
    write: (queries) => expect(expireDecision(queries)).rejects.toThrow('Updated 0 locked'),
    changes: [],
  },
  'rotating the key that signs receipts': {
    prepare: [
      `UPDATE secrets SET account_id = CASE account_id WHEN 'acc_home1' THEN 'service' ELSE account_id END,
        purpose = CASE right(id, 1) WHEN '2' THEN 'other' ELSE 'receipt_key' END,
        expires_at = CASE right(id, 1) WHEN '3' THEN timestamptz '2026-06-02T00:00:00Z' END
        WHERE account_id IN ('acc_home1', 'acc_twin1')`,
    ],
    write: async (queries, own) => {
      await rotateReceiptKey(own, openText, clock);
      await queries.query(`DELETE FROM secrets WHERE length(id) = 16`);
    },
    changes: [`secrets receipt_key ${name}`],
  },
  'canceling a job': {
    prepare: [`UPDATE jobs SET state = 'running'`],
    write: (queries) => cancelJob({ queries, scope } as never, jobId, clock.nowMs()),
    changes: [`jobs ${jobId}`],
  },
  'canceling a job that has ended': {
    prepare: [`UPDATE jobs SET state = 'done'`],
    write: (queries) => cancelJob({ queries, scope } as never, jobId, clock.nowMs()),
    changes: [],
  },
  'a step of a job': {
    prepare: [`UPDATE jobs SET state = 'running', kind = 'erase_player'`],
    write: (queries) =>
      runStep(
        queries,
        { accountId, id: jobId },
        { erase_player: () => Promise.resolve({ cursor: 'a', progress: 0.5 }) } as never,
        clock.nowMs(),
      ),
    changes: [`jobs ${jobId}`],
  },
  'deleting guests who have not played for 400 days': {
    prepare: [
      ...giveAll('guest'),
      `UPDATE player_tokens SET used_at = timestamptz '2026-06-01T12:00:00Z' - interval '9600 hours'`,
      `UPDATE player_tokens SET used_at = used_at - interval '1 ms'
        WHERE account_id = 'acc_home1' AND environment = 'sandbox' AND right(hash, 1) = '1'`,
    ],
    write: (_, own) => sweep(own),
    changes: [
      'link_codes sandbox guest',
      `player_tokens sandbox ${name}`,
      'viewers sandbox guest',
      `wallet_balances sandbox guest ${name}`,
      `wallet_entries sandbox guest ${name}`,
    ],
  },
  'deleting players who have not been seen for 30 days': {
    prepare: [
      `UPDATE viewers SET seen_at = timestamptz '2026-06-01T12:00:00Z' - interval '720 hours'`,
      `UPDATE viewers SET seen_at = seen_at - interval '1 ms'
        WHERE account_id = 'acc_home1' AND environment = 'sandbox' AND viewer = '${name}'`,
    ],
    write: (_, own) => sweep(own),
    changes: [`viewers sandbox ${name}`],
  },
  'rolling up the oldest day of an account': {
    prepare: [
      `DELETE FROM rollups WHERE environment <> 'sandbox' OR right(placement, 1) <> '1'`,
      `UPDATE rollups SET hour = CASE account_id WHEN 'acc_home1' THEN timestamptz '2026-04-02T05:00:00Z'
        ELSE timestamptz '2026-04-01T05:00:00Z' END`,
      `INSERT INTO chores VALUES ('acc_home1', 'another chore', '2026-05-30T00:00:00Z'),
        ('acc_twin1', 'daily roll-ups', '2026-05-30T00:00:00Z')`,
    ],
    write: async (queries) => {
      await queries.query(`SET LOCAL timezone = 'UTC'`);
      await rollUpDays(queries, accountId, clock.nowMs());
      const [chore] = await queries.query<{ at: Date }>(
        `DELETE FROM chores WHERE account_id = 'acc_home1' AND name = 'daily roll-ups' RETURNING begun_at AS at`,
      );
      expect(chore?.at).toEqual(new Date('2026-04-03T00:00:00Z'));
    },
    changes: ['00', '05'].map(
      (hour) =>
        `rollups sandbox 2026-04-02 ${hour}:00:00+00 ${Array<string>(7).fill(name).join(' ')}`,
    ),
  },
};
