import type { RecordedEvent } from '../decision/decision-state.ts';
import { firstIdAt } from '../platform/ids.ts';
import type { Queries, Scope } from '../store/database.ts';

/** The kill switch or policy that blocked every ad, with its last change before the decision. */
export interface Cause {
  type: 'kill_switch' | 'policy';
  id: string;
  /** Who made the change. Absent if the audit log no longer contains it. */
  actor?: string;
  since?: Date;
  /** The policy's name, or the kill switch's reason. */
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
 * Finds the policy or kill switch that blocked the decision. Reads the audit log, because the policy or kill switch may
 * have changed since.
 *
 * @param rule the policy in the decision's webhook event
 */
export async function findCause(
  queries: Queries,
  scope: Scope,
  decision: BlockedDecision,
  rule: Rule | undefined,
): Promise<Cause | undefined> {
  // An audit record is committed together with its change, so records of later changes have higher ids than this.
  const endId = firstIdAt('auditEntry', decision.issued_at.getTime() + 1);
  if (rule) {
    const [entry] = await queries.query<AuditEntry>(
      `${auditEntriesSql} AND target_id = $4 ORDER BY id DESC LIMIT 1`,
      [scope.accountId, scope.environment, endId, rule.id],
    );
    return {
      type: 'policy',
      id: rule.id,
      text: rule.name,
      ...(entry ? { actor: entry.actor, since: entry.created_at } : {}),
    };
  }
  if (decision.reason !== 'killed') return undefined;
  const [entry] = await queries.query<AuditEntry>(
    `SELECT * FROM (${latestSwitchStatesSql}) AS latest
      WHERE state = 'on' AND (expires_at IS NULL OR expires_at > $5) ORDER BY id DESC LIMIT 1`,
    [scope.accountId, scope.environment, endId, decision.placement, decision.issued_at],
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

interface AuditEntry {
  id: string;
  target_id: string;
  actor: string;
  created_at: Date;
  reason: string | null;
}

const auditEntriesSql = `SELECT id, target_id, actor, created_at, after->>'reason' AS reason, after->>'state' AS state,
    (after->>'expires_at')::timestamptz AS expires_at
  FROM audit_entries WHERE account_id = $1 AND environment = $2 AND id < $3`;

/** Selects the latest state of every kill switch for a placement. Kill switches refer to placements by id or name. */
const latestSwitchStatesSql = `${auditEntriesSql.replace('SELECT', 'SELECT DISTINCT ON (target_id)')}
  AND starts_with(action, 'kill_switch.') AND coalesce(after, before)->>'scope' = 'placement'
  AND coalesce(after, before)->>'target_id' IN (
    SELECT $4::text UNION SELECT r.id FROM resources r WHERE r.account_id = $1 AND r.environment = $2
      AND r.kind = 'placement' AND r.document->>'name' = $4)
  ORDER BY target_id, id DESC`;

/** The details that explain a reward. */
interface RewardDetails {
  status: string;
  format: string;
  requiredMs: number | null;
  invalidReason: string | null;
  servedAt: Date | null;
  lateAt: Date | null;
  settledAt: Date | null;
  rewardState: string;
  rewardReason: string | null;
  evidence: string | null;
  events: readonly { type: RecordedEvent['type']; watchedMs: number | null }[];
}

/** Explains a reward's state, with one sentence per condition. */
export function explainReward(details: RewardDetails): string[] {
  if (details.status !== 'filled') return ['The request was not filled, so there is no reward.'];
  if (details.format !== 'rewarded') return [`This ${details.format} placement has no reward.`];
  const hasEvent = (type: RecordedEvent['type']) =>
    details.events.some((event) => event.type === type);
  return [
    ...(details.evidence === null ? explainView(details, hasEvent) : []),
    hasEvent('complete') ? 'Completion was reported.' : 'Completion has not been reported yet.',
    ...(details.evidence === 'source_attested'
      ? [
          hasEvent('source_callback')
            ? 'The network’s server has confirmed the view.'
            : 'The network’s server has not confirmed the view yet.',
        ]
      : []),
    ...(details.invalidReason === null
      ? []
      : [`Classified as invalid traffic: ${details.invalidReason}.`]),
    ...(details.settledAt
      ? [
          `The reward was ${details.rewardState} at ${details.settledAt.toISOString()}${details.rewardReason === null ? '' : `: ${details.rewardReason}`}.`,
        ]
      : [`The reward can be earned until ${details.lateAt?.toISOString() ?? 'the ad ends'}.`]),
  ];
}

/** Explains what is known of how the ad was watched. */
function explainView(
  { servedAt, events, requiredMs }: RewardDetails,
  hasEvent: (type: RecordedEvent['type']) => boolean,
): string[] {
  const watchedMs = Math.max(0, ...events.map((event) => event.watchedMs ?? 0));
  const formatSeconds = (ms: number | null) => `${((ms ?? 0) / 1_000).toFixed(1)} s`;
  return [
    servedAt
      ? `The impression was verified at ${servedAt.toISOString()}.`
      : hasEvent('impression')
        ? 'An impression was reported but could not be verified.'
        : 'No impression has been reported yet.',
    `Required watch time: ${formatSeconds(requiredMs)}; reported: ${formatSeconds(watchedMs)}.`,
  ];
}
