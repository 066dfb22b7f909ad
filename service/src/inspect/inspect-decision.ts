import type { Delivery, Explanation, Reward, RewardStatus } from '@trueward/protocol/wire';
import type { RecordedEvent } from '../decision/decision-state.ts';
import { firstIdAt } from '../platform/ids.ts';
import type { ReadReward } from '../reward/reward-status.ts';
import type { Queries, Scope } from '../store/database.ts';
import { listEventDeliveries } from '../webhook/delivery-list.ts';
import type { EventBodies } from '../webhook/event-writer.ts';
import { type Cause, explainReward, findCause } from './explain-decision.ts';

interface Deps {
  database: Queries;
  eventBodies: EventBodies;
  readReward: ReadReward;
}

/** Everything that is stored about a decision. */
interface Inspection {
  decision: object;
  explain?: Explanation[];
  /** Why no ad was eligible. */
  cause?: Cause;
  events: object[];
  reward?: RewardStatus & { reasons: string[] };
  deliveries: Delivery[];
}

/** Resolves to undefined when the decision does not exist in this environment. */
type InspectDecision = (scope: Scope, id: string) => Promise<Inspection | undefined>;

export function createInspectDecision({
  database,
  eventBodies,
  readReward,
}: Deps): InspectDecision {
  return async (scope, id) => {
    const row = await readDecision(database, scope, id);
    if (!row) return undefined;
    const { explain, settled_at: settledAt, ...decision } = row;
    const events = await readEvents(database, scope.accountId, id);
    const reward = await readReward(scope, id, 0, AbortSignal.abort());
    const times = [row.issued_at, ...events.map(({ received_at }) => received_at), settledAt];
    const webhookEvents = await findWebhookEvents(database, eventBodies, scope, { id, times });
    const rule = webhookEvents.find(({ data }) => data.rule)?.data.rule;
    const cause = await findCause(database, scope, row, rule);
    const reasons = explainReward({
      ...row,
      requiredMs: row.required_ms,
      invalidReason: row.invalid_reason,
      servedAt: row.served_at,
      lateAt: row.late_at,
      settledAt,
      rewardState: row.reward_state,
      rewardReason: row.reward_reason,
      events: events.map(({ type, watched_ms }) => ({ type, watchedMs: watched_ms })),
    });
    return {
      decision: withoutNulls(decision),
      ...(explain === null ? {} : { explain }),
      ...(cause ? { cause } : {}),
      events: events.map(describeEvent),
      ...(reward ? { reward: { ...reward, reasons } } : {}),
      deliveries: await listEventDeliveries(
        database,
        scope,
        webhookEvents.map((event) => event.id),
      ),
    };
  };
}

interface DecisionRow {
  id: string;
  status: string;
  reason: string | null;
  placement: string;
  format: string;
  required_ms: number | null;
  evidence: string | null;
  invalid_reason: string | null;
  reward: Reward | null;
  reward_state: string;
  reward_reason: string | null;
  explain: Explanation[] | null;
  issued_at: Date;
  late_at: Date | null;
  served_at: Date | null;
  settled_at: Date | null;
}

async function readDecision(
  queries: Queries,
  { accountId, environment }: Scope,
  id: string,
): Promise<DecisionRow | undefined> {
  const [row] = await queries.query<DecisionRow>(
    `SELECT id, environment, status, reason, placement, format, creative_id, media_format, advertiser_id,
        source_id, house_ad_id, user_ref, custom_data, reward, required_ms, evidence, invalid_reason, simulate,
        issued_at, expires_at, late_at, served_at, settled_at, reward_state, reward_reason, explain
      FROM decisions WHERE account_id = $1 AND environment = $2 AND id = $3`,
    [accountId, environment, id],
  );
  return row;
}

interface EventRow {
  id: string;
  type: RecordedEvent['type'];
  occurred_at: Date;
  received_at: Date;
  clamped: boolean;
  watched_ms: number | null;
  visible_ratio: number | null;
  visible_ms: number | null;
  detail: string | null;
}

const readEvents = (queries: Queries, accountId: string, decisionId: string): Promise<EventRow[]> =>
  queries.query(
    `SELECT id, type, occurred_at, received_at, clamped, watched_ms, visible_ratio, visible_ms, detail
      FROM recorded_events WHERE account_id = $1 AND decision_id = $2 ORDER BY occurred_at, received_at`,
    [accountId, decisionId],
  );

const describeEvent = ({ visible_ratio: ratio, visible_ms: ms, ...event }: EventRow): object => ({
  ...withoutNulls(event),
  ...(ratio === null || ms === null ? {} : { visible: { ratio, ms } }),
});

/** Maximum time from a change to its webhook event. Events wait in a queue before they are written. */
const writeDelayMs = 10_000;

interface WebhookEvent {
  id: string;
  data: { decision_id?: string; rule?: { id: string; name: string } };
}

/**
 * Finds a decision's webhook events by time. The table has no column for the decision, but the ids of webhook events
 * contain the time at which they were written.
 */
async function findWebhookEvents(
  queries: Queries,
  bodies: EventBodies,
  { accountId, environment }: Scope,
  { id, times }: { id: string; times: readonly (Date | null)[] },
): Promise<WebhookEvent[]> {
  const windows = times
    .flatMap((moment) => moment ?? [])
    .map((moment) => ({
      first: firstIdAt('webhookEvent', moment.getTime()),
      last: firstIdAt('webhookEvent', moment.getTime() + writeDelayMs),
    }));
  // Events about children are encrypted, so SQL can't filter by their content.
  const rows = await queries.query<{ id: string; body: string }>(
    `SELECT DISTINCT e.id, e.body FROM webhook_events e
      JOIN jsonb_to_recordset($3::text::jsonb) AS w(first text, last text) ON e.id >= w.first AND e.id < w.last
      WHERE e.account_id = $1 AND e.environment = $2
        AND (e.body LIKE '%' || $4 || '%' OR e.body NOT LIKE '{%')`,
    [accountId, environment, JSON.stringify(windows), id],
  );
  return rows
    .map((row) => ({ ...(JSON.parse(bodies.open(row.body)) as WebhookEvent), id: row.id }))
    .filter(({ data }) => data?.decision_id === id);
}

export const withoutNulls = (row: object): object =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
