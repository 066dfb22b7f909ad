import type { Snapshot } from '../decision/snapshot.ts';
import type { SecretBox } from '../access/secret-box.ts';
import { type Clock, formatInstant } from '../platform/time.ts';
import type { MakeId } from '../platform/ids.ts';
import type { EventDraft, WriteEvents } from '../resource/change-events.ts';
import type { Scope } from '../store/database.ts';
import { checkStored, forAccount } from '../store/unnest.ts';

interface Deps {
  clock: Clock;
  makeId: MakeId;
  /** Returns the enabled webhooks and all event types to which they subscribe. */
  subscriptions(scope: Scope): Pick<Snapshot, 'webhooks' | 'subscribedEvents'>;
  bodies: EventBodies;
}

/** `decision.served` accounts for a twelfth of the storage per ad. Few need the others: the service keeps the wallets. */
const onDemand = new Set<string>(['decision.served', 'wallet.credited', 'wallet.spent']);

/** Inserts events and deliveries. */
const insertSql = `WITH written AS (
    INSERT INTO webhook_events (account_id, environment, created_at, id, type, body, viewer, child_directed)
      ${forAccount('$2, $3::timestamptz, unnest($4::text[]), unnest($5::text[]), unnest($6::text[]), unnest($7::text[]), unnest($8::boolean[])')}
      RETURNING 1),
  queued AS (
    INSERT INTO delivery_queue (account_id, environment, next_at, created_at, attempt, id, event_id, webhook_id)
      ${forAccount(`$2, $3::timestamptz, $3::timestamptz, 0, unnest($9::text[]), unnest($10::text[]), unnest($11::text[])`)}
      RETURNING 1)
  SELECT count(*) AS stored FROM written`;

/**
 * Creates a function that stores webhook events and queues their deliveries. In the sandbox, all events are stored for
 * `trueward-service listen`. In the live environment, some are stored only if a webhook subscribes to them.
 */
export function createEventWriter({ clock, makeId, subscriptions, bodies }: Deps): WriteEvents {
  return async (queries, scope, allDrafts) => {
    const { webhooks, subscribedEvents } = subscriptions(scope);
    const shouldStore = ({ type }: EventDraft): boolean =>
      !onDemand.has(type) || scope.environment === 'sandbox' || subscribedEvents.has(type);
    const drafts = allDrafts.filter(shouldStore);
    if (drafts.length === 0) return false;
    const now = formatInstant(clock.nowMs());
    const events = drafts.map(({ type, data, confidential = false, viewer = null }) => {
      const id = makeId('webhookEvent');
      const body = JSON.stringify({
        id,
        type,
        created_at: now,
        environment: scope.environment,
        data,
      });
      return { id, type, body: bodies.store(body, confidential), viewer, confidential };
    });
    const deliveries = events.flatMap(({ id, type }) =>
      webhooks
        .filter((webhook) => webhook.events.includes(type))
        .map((webhook) => ({ id: makeId('delivery'), event_id: id, webhook_id: webhook.id })),
    );
    const [result] = await queries.execute<{ stored: number }>(insertSql, [
      scope.accountId,
      scope.environment,
      now,
      events.map(({ id }) => id),
      events.map(({ type }) => type),
      events.map(({ body }) => body),
      events.map(({ viewer }) => viewer),
      events.map(({ confidential }) => confidential),
      deliveries.map(({ id }) => id),
      deliveries.map(({ event_id }) => event_id),
      deliveries.map(({ webhook_id }) => webhook_id),
    ]);
    checkStored(scope.accountId, result?.stored, events.length);
    return deliveries.length > 0;
  };
}

/** Converts event bodies to and from their stored form. */
export interface EventBodies {
  /** Converts a body to its stored form. A confidential body is encrypted, because it identifies a child. */
  store(body: string, confidential: boolean): string;
  /** Converts a stored body to the body to deliver. */
  open(stored: string): string;
}

export const createEventBodies = (box: SecretBox): EventBodies => ({
  store: (body, confidential) => (confidential ? box.seal(body) : body),
  // A JSON object starts with a brace. An encrypted body never does.
  open: (stored) => (stored.startsWith('{') ? stored : box.open(stored)),
});
