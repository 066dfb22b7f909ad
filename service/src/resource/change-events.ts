import type { Creative, KillSwitch, WebhookEvent } from '@trueward/protocol/wire';
import type { Queries, Scope } from '../store/database.ts';
import type { ResourceKind, ResourceKinds } from './resource.ts';

/** A webhook event without its id and time. */
export type EventDraft = WebhookEvent extends infer E
  ? E extends WebhookEvent
    ? Pick<E, 'type' | 'data'> & {
        /** Whether the event identifies a child. If so, its body must be stored encrypted. */
        confidential?: boolean;
        /** The pseudonym of the player, if the event is about one. */
        viewer?: string | null;
      }
    : never
  : never;

/**
 * Writes webhook events and their deliveries in the same transaction as the change that caused them. Resolves to
 * whether there are deliveries.
 */
export type WriteEvents = (
  queries: Queries,
  scope: Scope,
  drafts: readonly EventDraft[],
) => Promise<boolean>;

/** Returns the webhook events for a change. `before` is undefined for a new object, `after` for an archived one. */
export function draftChangeEvents<K extends ResourceKind>(
  kind: K,
  before: ResourceKinds[K] | undefined,
  after: ResourceKinds[K] | undefined,
): EventDraft[] {
  if (kind === 'killSwitch') {
    return draftKillSwitchEvents(before as KillSwitch | undefined, after as KillSwitch | undefined);
  }
  return kind === 'creative' && before && after
    ? draftReviewEvents(before as Creative, after as Creative)
    : [];
}

function draftKillSwitchEvents(
  before: KillSwitch | undefined,
  after: KillSwitch | undefined,
): EventDraft[] {
  const state = after?.state ?? 'off';
  const killSwitch = after ?? before;
  if (killSwitch === undefined || state === (before?.state ?? 'off')) return [];
  const { id, scope, target_id, reason, actor } = killSwitch;
  return [
    {
      type: 'kill_switch.changed',
      data: {
        kill_switch_id: id,
        scope,
        target_id,
        state,
        ...(reason === undefined ? {} : { reason }),
        actor,
      },
    },
  ];
}

function draftReviewEvents(before: Creative, after: Creative): EventDraft[] {
  const { status, reason_code, feedback } = after.review;
  if (status === before.review.status) return [];
  return [
    {
      type: 'creative.review_updated',
      data: {
        creative_id: after.id,
        previous: before.review.status,
        current: status,
        ...(reason_code === undefined ? {} : { reason_code }),
        ...(feedback === undefined ? {} : { feedback }),
      },
    },
  ];
}
