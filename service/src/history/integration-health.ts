import type { Mistake } from '@trueward/protocol/wire';
import type { PlayerFindings, Share } from '../access/player-use.ts';
import { firstIdAt } from '../platform/ids.ts';
import type { Environment } from '../access/principal.ts';
import type { Queries, Scope } from '../store/database.ts';

/** What the service recorded of an environment's players and webhooks within the last day. */
export interface IntegrationFacts {
  /** Filled decisions for identified players. */
  decisions: number;
  /** The references of these players. */
  players: number;
  /** Rewarded ads that were completed. */
  completed: number;
  /** Completed ads by why they have no reward yet. */
  withoutReward: Readonly<Record<string, number>>;
  earned: number;
  /** Placements that pay nothing, but for whose reward a game asked. */
  unpaidPlacements: readonly string[];
  /** Enabled webhooks that receive rewards. */
  rewardReceivers: number;
  /** Publishable keys used on pages that belong to the other environment. */
  misplacedKeys: readonly { environment: Environment; key: string; origin: string }[];
  /** The most devices that one of the most frequent players was seen on. 0 if it is a usual number. */
  devicesPerPlayer: number;
  /** Ad requests by devices that have named many players within a day. */
  manyPlayersPerDevice?: Share | undefined;
  /** Ad requests by devices on which earned rewards wait for the game. */
  waitingRewards?: Share | undefined;
  /** Deliveries that have waited for more than {@link slowAfterMs}. */
  late: number;
}

const dayMs = 86_400_000;
/** How many decisions with an ad are looked at: the latest ones. Reading them takes about 10 ms. */
const maxDecisions = 5_000;
/** How many of the latest decisions are searched for them, because there may be no ad for any. */
const maxSearched = 10_000;
/** How many late deliveries are counted. */
const maxLate = 1_000;
/** How long a receiver may take until it is called slow, in milliseconds. */
const slowAfterMs = 120_000;
/** Below this number of completed ads, a share means little. */
const minCompleted = 20;
/** Below this number of decisions, players who came once say nothing. */
const minDecisions = 200;
const guide = 'docs/test-your-integration.md#what-the-service-notices';

/** Reasons without a rule of their own that have a cause in the game or its settings if there are many. */
const otherReasons = ['frequency_capped', 'late', 'watched_too_little', 'invalid_traffic'];

type Rule = (facts: IntegrationFacts) => Omit<Mistake, 'guide'> | undefined;

/** Whether a share of the completed ads is so large that players can hardly be the cause. */
function stands(facts: IntegrationFacts, reason: string, share: number): string | undefined {
  const count = facts.withoutReward[reason] ?? 0;
  if (facts.completed < minCompleted || count < facts.completed * share) return undefined;
  return `${count} of ${facts.completed} completed ads in the last day have no reward: \`${reason}\`.`;
}

/** The rules, the gravest first. */
const rules: readonly Rule[] = [
  (facts) => {
    const overlaps = stands(facts, 'overlapping_watch', 0.1);
    const devices =
      facts.devicesPerPlayer > 0
        ? `One user_ref was used on ${facts.devicesPerPlayer} devices.`
        : undefined;
    const evidence = [devices, overlaps].filter((text) => text !== undefined).join(' ');
    return evidence === ''
      ? undefined
      : {
          name: 'shared_user_ref',
          evidence: `${evidence} ${facts.decisions} decisions name ${facts.players === 1 ? '1 player' : `${facts.players} players`}.`,
          remedy:
            'Several players seem to share one user_ref, such as the one of an example. Pass your own id of each player, or leave it out.',
        };
  },
  ({ decisions, players, manyPlayersPerDevice: share }) => {
    const isNewEachTime = decisions >= minDecisions && players >= decisions * 0.95;
    if (!isNewEachTime && !share) return undefined;
    return {
      name: 'new_user_ref_each_time',
      evidence: share
        ? `${share.count} of ${share.of} ad requests came from devices that had named three or more players within a day.`
        : `${decisions} decisions in the last day name ${players} different players.`,
      remedy:
        'A player seems to get a new user_ref each time, so caps and cooldowns never apply. Keep a player’s id between page loads.',
    };
  },
  ({ unpaidPlacements }) =>
    unpaidPlacements.length > 0
      ? {
          name: 'placement_without_reward',
          evidence: `Players completed rewarded ads of placements that pay nothing: ${unpaidPlacements.join(', ')}.`,
          remedy: 'Set a reward for these placements, or call showInterstitial() for them.',
        }
      : undefined,
  (facts) => {
    const evidence = stands(facts, 'impossible_timing', 0.05);
    return evidence === undefined
      ? undefined
      : {
          name: 'impossible_timing',
          evidence,
          remedy:
            'Completions arrive before the ad can have ended. Look for a script that speeds up timers or clocks, or that reports events itself.',
        };
  },
  (facts) => {
    const evidence = stands(facts, 'no_impression', 0.3);
    return evidence === undefined
      ? undefined
      : {
          name: 'ads_not_visible',
          evidence,
          remedy:
            'The ads are watched, but not seen. Look for something that covers or hides the ad, such as the game’s canvas or a full-screen element.',
        };
  },
  (facts) => {
    const evidence = stands(facts, 'awaiting_callback', 0.3);
    return evidence === undefined
      ? undefined
      : {
          name: 'callbacks_missing',
          evidence,
          remedy:
            'The ad network’s server doesn’t confirm views. Check the callback URL at the network, its secret, and that your adapter passes the decision’s id.',
        };
  },
  (facts) => {
    const [evidence] = otherReasons.flatMap((reason) => stands(facts, reason, 0.2) ?? []);
    return evidence === undefined
      ? undefined
      : {
          name: 'rewards_denied',
          evidence,
          remedy:
            'So many are rarely the players’ doing. Look up the reason in the guide to rewards, and look at one of these decisions in the panel.',
        };
  },
  ({ misplacedKeys: [first] }) => {
    if (first === undefined) return undefined;
    const { environment, key, origin } = first;
    return environment === 'sandbox'
      ? {
          name: 'sandbox_key_on_public_site',
          evidence: `The sandbox key ${key} is used on ${origin}.`,
          remedy:
            'Rewards of the sandbox are worth nothing, and its ads pay nothing. If players play there, use a live key.',
        }
      : {
          name: 'live_key_on_development_server',
          evidence: `The live key ${key} is used on ${origin}.`,
          remedy:
            'Test ads count as real ones, in reports and caps. Use a sandbox key while you develop, and leave your own machine out of the live key’s allowed origins.',
        };
  },
  ({ waitingRewards: share, rewardReceivers }) =>
    share && rewardReceivers === 0
      ? {
          name: 'rewards_not_taken',
          evidence: `${share.count} of ${share.of} ad requests came from devices on which earned rewards have waited for the game for more than a minute.`,
          remedy:
            "Add a handler with `ads.on('reward', …)` when the game starts, and make sure that it doesn’t fail.",
        }
      : undefined,
  ({ earned, rewardReceivers }) =>
    earned > 0 && rewardReceivers === 0
      ? {
          name: 'rewards_without_receiver',
          evidence: `${earned} rewards were earned in the last day, and no webhook receives \`decision.rewarded\`.`,
          remedy:
            'If rewards matter on your server, add a webhook or verify receipts. Games that keep rewards on the device need neither.',
        }
      : undefined,
  ({ late }) =>
    late > 0
      ? {
          name: 'receiver_is_slow',
          evidence: `${late} webhook deliveries have waited for more than two minutes.`,
          remedy:
            'Look at the webhook’s attempts: the receiver is slow, fails or is disabled. Store the event, answer, and only then work on it.',
        }
      : undefined,
];

/** Finds probable mistakes in an integration, the gravest first. */
export const findMistakes = (facts: IntegrationFacts): Mistake[] =>
  rules.flatMap((rule) => {
    const mistake = rule(facts);
    return mistake ? { ...mistake, guide } : [];
  });

interface Row {
  decisions: number;
  players: number;
  completed: number;
  withoutReward: Record<string, number> | null;
  earned: number;
  unpaidPlacements: string[] | null;
  rewardReceivers: number;
  misplacedKeys: IntegrationFacts['misplacedKeys'] | null;
  findings: PlayerFindings[] | null;
  late: number;
}

/** Reads the facts from the latest decisions and the queue of deliveries. Writes and locks nothing. */
export async function readIntegrationFacts(
  queries: Queries,
  { accountId, environment }: Scope,
  nowMs: number,
): Promise<IntegrationFacts> {
  // With their ids, the planner knows how little waits for them, and does not read the whole queue.
  const webhooks = await queries.query<{ id: string }>(
    `SELECT id FROM resources WHERE account_id = $1 AND environment = $2 AND kind = 'webhook'`,
    [accountId, environment],
  );
  const [row] = await queries.query<Row>(
    `WITH latest AS MATERIALIZED (
        SELECT id, status, simulate, viewer, placement, reward_state, reward_reason FROM decisions
          WHERE account_id = $1 AND environment = $2 AND id >= $3 ORDER BY id DESC LIMIT ${maxSearched}),
      recent AS (
        SELECT viewer, placement, reward_state, reward_reason FROM latest
          WHERE status = 'filled' AND simulate IS NULL ORDER BY id DESC LIMIT ${maxDecisions}),
      reasons AS (
        SELECT reward_reason AS reason, count(*) AS count FROM recent
          WHERE reward_reason IS NOT NULL AND reward_state <> 'earned' GROUP BY reward_reason),
      unpaid AS (
        SELECT DISTINCT placement FROM recent WHERE reward_reason = 'not_rewarded_placement' LIMIT 5)
      SELECT count(viewer)::bigint AS decisions, count(DISTINCT viewer)::bigint AS players,
          (count(*) FILTER (WHERE reward_state <> 'none'))::bigint AS completed,
          (count(*) FILTER (WHERE reward_state = 'earned'))::bigint AS earned,
          (SELECT jsonb_object_agg(reason, count) FROM reasons) AS "withoutReward",
          (SELECT jsonb_agg(placement) FROM unpaid) AS "unpaidPlacements",
          (SELECT count(*)::bigint FROM resources WHERE account_id = $1 AND environment = $2 AND kind = 'webhook'
            AND archived_at IS NULL AND document ->> 'status' = 'enabled' AND document -> 'events' ? 'decision.rewarded') AS "rewardReceivers",
          (SELECT jsonb_agg(jsonb_build_object('environment', environment, 'key', coalesce(name, id), 'origin', misplaced_origin)
              ORDER BY misplaced_at DESC)
            FROM keys WHERE account_id = $1 AND environment = $2 AND misplaced_at >= $5 AND revoked_at IS NULL) AS "misplacedKeys",
          (SELECT jsonb_agg(findings) FROM keys WHERE account_id = $1 AND environment = $2 AND findings <> '{}' AND revoked_at IS NULL) AS findings,
          (SELECT count(*)::bigint FROM (SELECT FROM delivery_queue WHERE account_id = $1 AND environment = $2
            AND webhook_id = ANY ($6::text[]) AND id < $4 LIMIT ${maxLate}) AS waiting) AS late
        FROM recent`,
    [
      accountId,
      environment,
      firstIdAt('decision', Math.max(0, nowMs - dayMs)),
      firstIdAt('delivery', Math.max(0, nowMs - slowAfterMs)),
      new Date(nowMs - dayMs),
      webhooks.map(({ id }) => id),
    ],
  );
  const findings = row?.findings ?? [];
  /** Returns the finding of the key with the most, if it is from the last day. */
  const findLatest = <T extends { atMs: number; count: number }>(
    pick: (key: PlayerFindings) => T | undefined,
  ): T | undefined =>
    findings
      .flatMap((key) => pick(key) ?? [])
      .filter(({ atMs }) => atMs >= nowMs - dayMs)
      .toSorted((a, b) => b.count - a.count)[0];
  return {
    devicesPerPlayer: findLatest(({ devicesPerPlayer }) => devicesPerPlayer)?.count ?? 0,
    manyPlayersPerDevice: findLatest(({ manyPlayersPerDevice }) => manyPlayersPerDevice),
    waitingRewards: findLatest(({ waitingRewards }) => waitingRewards),
    decisions: row?.decisions ?? 0,
    players: row?.players ?? 0,
    completed: row?.completed ?? 0,
    withoutReward: row?.withoutReward ?? {},
    earned: row?.earned ?? 0,
    unpaidPlacements: row?.unpaidPlacements ?? [],
    rewardReceivers: row?.rewardReceivers ?? 0,
    misplacedKeys: row?.misplacedKeys ?? [],
    late: row?.late ?? 0,
  };
}
