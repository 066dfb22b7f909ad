import type { AdEvent } from '@trueward/protocol/wire';
import { firstIdAt } from '../platform/ids.ts';
import type { Scope } from '../resource/scope.ts';
import type { Queries } from '../store/database.ts';

/** The kill switch or policy that kept every ad away, and who had set it at that time. */
export interface Cause {
  type: 'kill_switch' | 'policy';
  id: string;
  /** Absent when the audit log does not go back that far. */
  actor?: string;
  since?: Date;
  /** The name of a policy; why somebody turned a switch on. */
  text?: string;
}

interface BlockedDecision {
  reason: string | null;
  placement: string;
  issued_at: Date;
}

interface Rule {
  id: string;
  name: string;
}

/**
 * Looks it up in the audit log as of the decision: it may have been changed or archived since.
 *
 * @param rule The policy that the decision’s webhook event names.
 */
export async function findCause(
  queries: Queries,
  scope: Scope,
  decision: BlockedDecision,
  rule: Rule | undefined,
): Promise<Cause | undefined> {
  // An entry is committed together with the change that it records.
  const before = firstIdAt('auditEntry', decision.issued_at.getTime() + 1);
  if (rule) {
    const [entry] = await queries.query<Entry>(
      `${entries} AND target_id = $4 ORDER BY id DESC LIMIT 1`,
      [scope.accountId, scope.environment, before, rule.id],
    );
    return {
      type: 'policy',
      id: rule.id,
      text: rule.name,
      ...(entry ? { actor: entry.actor, since: entry.created_at } : {}),
    };
  }
  if (decision.reason !== 'killed') return undefined;
  const [entry] = await queries.query<Entry>(
    `SELECT * FROM (${latestOfSwitches}) AS latest
      WHERE state = 'on' AND (expires_at IS NULL OR expires_at > $5) ORDER BY id DESC LIMIT 1`,
    [scope.accountId, scope.environment, before, decision.placement, decision.issued_at],
  );
  return (
    entry && {
      type: 'kill_switch',
      id: entry.target_id,
      actor: entry.actor,
      since: entry.created_at,
      ...(entry.reason === null ? {} : { text: entry.reason }),
    }
  );
}

interface Entry {
  id: string;
  target_id: string;
  actor: string;
  created_at: Date;
  reason: string | null;
}

const entries = `SELECT id, target_id, actor, created_at, after->>'reason' AS reason, after->>'state' AS state,
    (after->>'expires_at')::timestamptz AS expires_at
  FROM audit_entries WHERE account_id = $1 AND environment = $2 AND id < $3`;

/** The latest state of every kill switch for a placement, which a switch names by id or by name. */
const latestOfSwitches = `${entries.replace('SELECT', 'SELECT DISTINCT ON (target_id)')}
  AND starts_with(action, 'kill_switch.') AND coalesce(after, before)->>'scope' = 'placement'
  AND coalesce(after, before)->>'target_id' IN (
    SELECT $4::text UNION SELECT r.id FROM resources r WHERE r.account_id = $1 AND r.environment = $2
      AND r.kind = 'placement' AND r.document->>'name' = $4)
  ORDER BY target_id, id DESC`;

/** What is known of a decision when its reward is explained. */
interface RewardStory {
  status: string;
  format: string;
  requiredMs: number | null;
  invalidReason: string | null;
  servedAt: Date | null;
  lateAt: Date | null;
  settledAt: Date | null;
  rewardState: string;
  rewardReason: string | null;
  events: readonly { type: AdEvent['type']; watchedMs: number | null }[];
}

/** Why a reward stands where it does, in the order in which it is judged. Pure. */
export function explainReward(story: RewardStory): string[] {
  if (story.status !== 'filled') return ['No ad was handed out, so there is nothing to earn.'];
  if (story.format !== 'rewarded') return [`A ${story.format} placement gives no reward.`];
  const has = (type: AdEvent['type']) => story.events.some((event) => event.type === type);
  const watchedMs = Math.max(0, ...story.events.map((event) => event.watchedMs ?? 0));
  const seconds = (ms: number | null) => `${((ms ?? 0) / 1_000).toFixed(1)} s`;
  return [
    story.servedAt
      ? `The impression was verified for ${story.servedAt.toISOString()}.`
      : has('impression')
        ? 'An impression was reported, but it could not be verified.'
        : 'No impression was reported yet.',
    `It has to be watched for ${seconds(story.requiredMs)}; the game reported ${seconds(watchedMs)}.`,
    has('complete') ? 'Its end was reported.' : 'Its end was not reported yet.',
    ...(story.invalidReason === null ? [] : [`It is invalid traffic: ${story.invalidReason}.`]),
    ...(story.settledAt
      ? [
          `The reward was ${story.rewardState} at ${story.settledAt.toISOString()}${story.rewardReason === null ? '' : `: ${story.rewardReason}`}.`,
        ]
      : [`It can be earned until ${story.lateAt?.toISOString() ?? 'the ad ends'}.`]),
  ];
}
