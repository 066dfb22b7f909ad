import { countDailyBudgets, type DailyBudget } from '../../src/decision/caps.ts';
import { createRecordReader } from '../../src/decision/player-record.ts';
import { exportPlayer } from '../../src/history/export-player.ts';
import { readReport } from '../../src/history/report.ts';
import {
  readAdViews,
  readDecisions,
  readEvents,
  readRewardedAds,
} from '../../src/reward/read-decisions.ts';
import { createRewardChanges } from '../../src/reward/reward-changes.ts';
import { createReadReward } from '../../src/reward/reward-status.ts';
import type { Database } from '../../src/store/database.ts';
import { listGrantBudgets } from '../../src/wallet/grant-budgets.ts';
import { listEntries } from '../../src/wallet/list-entries.ts';
import { readWalletReport } from '../../src/wallet/wallet-report.ts';
import { findSpends, findTransfers, readHoldings } from '../../src/wallet/wallet-store.ts';
import { accountId, ids, scope } from '../twin-accounts.ts';
import {
  clock,
  counted,
  nowMs,
  ofPlayer,
  reportQuery,
  samePlayer,
  type ReadCases,
} from './read-case.ts';

const [decisionId = ''] = ids('decision', 1);
const [eventId = ''] = ids('webhookEvent', 1);
const seen = `UPDATE decisions SET served_at = issued_at, watch_to = issued_at, reward_state = 'earned', media_format = 'page'`;
const readRecord = async (database: Database, isPage: boolean) =>
  createRecordReader(database)(
    {
      scope,
      nowMs: nowMs + 1_000,
      entry: {
        placement: isPage
          ? { name: 'revive', cooldown_s: 0, format: 'rewarded', page_rewards: 'once' }
          : { name: 'revive', cooldown_s: 3_600 },
        pageSources: isPage ? [{}] : [],
        adRules: isPage ? [] : [{}],
      } as never,
    },
    'player',
    isPage ? undefined : ({ formats: ['rewarded'], windowMs: 3_600_000 } as never),
  );
const budgetOf = async (database: Database): Promise<DailyBudget | undefined> => {
  const budgets = new Map<string, DailyBudget>();
  const candidates = [{ houseAd: { id: 'ad', daily_cap: 10 } }];
  const snapshot = { placements: new Map([['revive', { candidates }]]) } as never;
  await countDailyBudgets(database, scope, snapshot, nowMs, budgets);
  return budgets.get('ad');
};
/** Whether one poll finds that a reward is in another state than this. */
export const hasChanged = async (
  database: Database,
  state = 'unknown',
): Promise<true | undefined> => {
  const aborting = new AbortController();
  const query = async (...call: Parameters<Database['query']>) => {
    const rows = await database.query(...call);
    // The poll announces what it has found before other work goes on.
    setImmediate(() => aborting.abort());
    return rows;
  };
  const changes = createRewardChanges({
    database: { query } as unknown as Database,
    log: { warn: console.error },
    pollMs: 1,
  });
  const changed = changes.next(
    { scope, decisionId, state: state as never },
    60_000,
    aborting.signal,
  );
  const isChanged = await changed;
  changes.stop();
  return isChanged || undefined;
};
const readMoney = async (database: Database, part: 'data' | 'holdings') =>
  (await readWalletReport(database, scope, reportQuery, nowMs))[part];
const readExport = async (database: Database, record: string) => {
  const found: Record<string, unknown>[] = [];
  for await (const line of exportPlayer(database, scope, 'player', () => '{}'))
    if (line['record'] === record) found.push({ ...line });
  return found;
};
const allOfPlayer = [
  ...samePlayer('decisions', 'player_tokens', 'wallet_balances', 'wallet_entries'),
  `UPDATE webhook_events SET viewer = 'player' WHERE right(id, 1) = '1'`,
];

/** What is read about players: their decisions, rewards, wallets and exports. */
export const playerReads: ReadCases = {
  decisions: {
    read: (own) => readDecisions(own, scope, [decisionId], { lock: false }),
    of: { decisions: `id = '${decisionId}'` },
  },
  'the events of a decision': {
    read: async (own) => [...(await readEvents(own, accountId, [decisionId])).values()].flat(),
    of: { timelines: `decision_id = '${decisionId}'` },
  },
  'a player’s rewarded views': {
    prepare: [seen, ...samePlayer('decisions')],
    read: (own) => readAdViews(own, scope, ['player'], nowMs - 1),
    of: { decisions: ofPlayer },
  },
  'a player’s rewarded views that end later': {
    prepare: [
      seen,
      `UPDATE decisions SET viewer = 'player'`,
      `UPDATE decisions SET watch_to = '2099-05-31T23:59:59.999Z' WHERE id <> '${decisionId}'`,
    ],
    read: (own) => readAdViews(own, scope, ['player'], nowMs - 1),
    of: { decisions: `id = '${decisionId}'` },
  },
  'a player’s rewarded ads in a period': {
    prepare: [
      seen,
      `UPDATE decisions SET viewer = 'player', served_at = CASE right(id, 1) WHEN '1' THEN timestamptz '2099-06-01T00:00:00.001Z'
        WHEN '2' THEN timestamptz '2099-06-01T00:00:00Z' ELSE timestamptz '2099-06-01T00:00:00.002Z' END`,
    ],
    read: (own) => readRewardedAds(own, scope, ['player'], [nowMs, nowMs + 2]),
    of: { decisions: `id = '${decisionId}'` },
  },
  'a player’s ads that earned a reward': {
    prepare: [
      seen,
      `UPDATE decisions SET viewer = 'player', reward_state = CASE right(id, 1) WHEN '1' THEN 'earned' ELSE 'pending' END`,
    ],
    read: (own) => readRewardedAds(own, scope, ['player'], [nowMs - 1, nowMs + 1]),
    of: { decisions: `id = '${decisionId}'` },
  },
  'a player’s rewarded ads': {
    prepare: [seen, ...samePlayer('decisions')],
    read: (own) => readRewardedAds(own, scope, ['player'], [nowMs - 1, nowMs + 1]),
    of: { decisions: ofPlayer },
  },
  'the times of a player’s ads': {
    prepare: [seen, ...samePlayer('decisions')],
    read: async (own) => (await readRecord(own, false)).servedAtMs,
    of: { decisions: ofPlayer },
  },
  'the times of a player’s ads at a placement': {
    prepare: [
      seen,
      `UPDATE decisions SET viewer = 'player', placement = CASE right(id, 1) WHEN '1' THEN 'revive' ELSE 'other' END`,
    ],
    read: async (own) => (await readRecord(own, false)).servedAtMs,
    of: { decisions: `placement = 'revive'` },
  },
  'the times of a player’s ads on the page': {
    prepare: [
      seen,
      `UPDATE decisions SET viewer = 'player', media_format = CASE right(id, 1) WHEN '1' THEN 'page' ELSE 'video' END`,
    ],
    read: async (own) => (await readRecord(own, true)).pageAdsAtMs,
    of: { decisions: `media_format = 'page'` },
  },
  'a player’s ads that rules count': {
    prepare: [seen, ...samePlayer('decisions')],
    read: async (own) => (await readRecord(own, false)).seenAds,
    of: { decisions: ofPlayer },
  },
  'a reward': {
    read: (own) =>
      createReadReward({ database: own, clock } as never)(
        scope,
        decisionId,
        0,
        AbortSignal.abort(),
      ),
    of: { decisions: `id = '${decisionId}'` },
  },
  'seen ads of a house ad': {
    prepare: [counted('impressions')],
    read: async (own) => (await budgetOf(own))?.served,
    of: { rollups: `house_ad_id = 'ad'` },
  },
  'reserved ads of a house ad': {
    prepare: [
      `UPDATE decisions SET reserved_ad = CASE right(id, 1) WHEN '1' THEN 'ad' ELSE 'another' END`,
    ],
    read: async (own) => 10 - ((await budgetOf(own))?.allowance ?? 0),
    of: { decisions: `reserved_ad = 'ad'` },
  },
  'reserved ads of a house ad that have not been seen': {
    prepare: [
      `UPDATE decisions SET reserved_ad = 'ad', served_at = CASE right(id, 1) WHEN '1' THEN NULL ELSE issued_at END`,
    ],
    read: async (own) => 10 - ((await budgetOf(own))?.allowance ?? 0),
    of: { decisions: 'served_at IS NULL' },
  },
  'a reward that has changed': {
    read: hasChanged,
    of: { decisions: `id = '${decisionId}'` },
  },
  'what players have': {
    prepare: samePlayer('wallet_balances'),
    read: (own) => readHoldings(own, scope, ['player']),
    of: { wallet_balances: ofPlayer },
  },
  'a spend': {
    prepare: [...samePlayer('wallet_entries'), `UPDATE wallet_entries SET id = 'spend'`],
    read: (own) => findSpends(own, scope, [{ viewer: 'player', id: 'spend' }]),
    of: { wallet_entries: ofPlayer },
  },
  'another spend': {
    prepare: [`UPDATE wallet_entries SET viewer = 'player', id = right(id, 1)`],
    read: (own) => findSpends(own, scope, [{ viewer: 'player', id: '1' }]),
    of: { wallet_entries: `id = '1'` },
  },
  transfers: {
    prepare: [`UPDATE wallet_entries SET viewer = right(id, 1), kind = 'transfer'`],
    read: (own) => findTransfers(own, scope, ['1']),
    of: { wallet_entries: `viewer = '1'` },
  },
  'transfers among other entries': {
    prepare: [
      `UPDATE wallet_entries SET viewer = 'player', kind = CASE right(id, 1) WHEN '1' THEN 'transfer' ELSE 'grant' END`,
    ],
    read: (own) => findTransfers(own, scope, ['player']),
    of: { wallet_entries: `kind = 'transfer'` },
  },
  'entries of a wallet': {
    prepare: samePlayer('wallet_entries'),
    read: (own) => listEntries(own, scope, 'player', { limit: 10, before: 99 }),
    of: { wallet_entries: ofPlayer },
  },
  budgets: {
    read: (own) => listGrantBudgets(own, scope, nowMs),
    of: { grant_budgets: 'true' },
  },
  'changes of wallets': { read: (own) => readMoney(own, 'data'), of: { wallet_entries: 'true' } },
  'what all players have': {
    read: (own) => readMoney(own, 'holdings'),
    of: { wallet_balances: 'true' },
  },
  'exported events': {
    prepare: allOfPlayer,
    read: async (own) =>
      (await readExport(own, 'decision')).flatMap((line) => line['events'] as unknown[]),
    of: { timelines: `decision_id = '${decisionId}'` },
  },
  'exported demand': {
    prepare: allOfPlayer,
    read: async (own) =>
      (await readExport(own, 'decision')).flatMap((line) => line['demand'] ?? []),
    of: { decision_demand: `decision_id = '${decisionId}'` },
  },
  'exported webhook events': {
    prepare: allOfPlayer,
    read: (own) => readExport(own, 'webhook_event'),
    of: { webhook_events: ofPlayer },
  },
  'exported deliveries': {
    prepare: allOfPlayer,
    read: async (own) =>
      (await readExport(own, 'webhook_event')).flatMap((line) => line['deliveries'] as unknown[]),
    of: {
      delivery_queue: `event_id = '${eventId}'`,
      finished_deliveries: `event_id = '${eventId}'`,
    },
    inBoth: true,
  },
  'exported balances': {
    prepare: allOfPlayer,
    read: (own) => readExport(own, 'wallet_balance'),
    of: { wallet_balances: ofPlayer },
  },
  'exported wallet entries': {
    prepare: allOfPlayer,
    read: (own) => readExport(own, 'wallet_entry'),
    of: { wallet_entries: ofPlayer },
  },
  'a report': {
    prepare: [counted('filled')],
    read: async (own) =>
      (await readReport(own, scope, { ...reportQuery, interval: 'day', groupBy: [] })).data,
    of: { rollups: 'true' },
  },
};
