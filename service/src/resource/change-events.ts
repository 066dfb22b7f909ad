import type { Creative, KillSwitch } from '@trueward/protocol/wire';
import type { EventDraft } from '../webhook/event-writer.ts';
import type { ResourceKind, ResourceKinds } from './resource.ts';

/** The webhook events that tell of a change; `undefined` stands for an object that is not there. Pure. */
export function changeEvents<K extends ResourceKind>(
  kind: K,
  before: ResourceKinds[K] | undefined,
  after: ResourceKinds[K] | undefined,
): EventDraft[] {
  if (kind === 'killSwitch') {
    return killSwitchEvents(before as KillSwitch | undefined, after as KillSwitch | undefined);
  }
  return kind === 'creative' && before && after
    ? reviewEvents(before as Creative, after as Creative)
    : [];
}

function killSwitchEvents(
  before: KillSwitch | undefined,
  after: KillSwitch | undefined,
): EventDraft[] {
  const state = after?.state ?? 'off';
  const told = after ?? before;
  if (told === undefined || state === (before?.state ?? 'off')) return [];
  const { id, scope, target_id, reason, actor } = told;
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

function reviewEvents(before: Creative, after: Creative): EventDraft[] {
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
