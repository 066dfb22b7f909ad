import type { WebhookEvent } from '@trueward/protocol/wire';
import type { MakeId } from '../platform/ids.ts';
import type { EventDraft } from '../resource/change-events.ts';

/** Whom sample events are about; a game knows no such player. */
const userRef = 'trueward-test';

/** An event of this type about objects that do not exist, to try a receiver with. */
export function sampleEvent(type: WebhookEvent['type'], makeId: MakeId): EventDraft {
  const decision = { decision_id: makeId('decision'), placement: 'test' };
  switch (type) {
    case 'decision.served':
      return {
        type,
        data: {
          ...decision,
          creative_id: makeId('creative'),
          advertiser_id: makeId('advertiser'),
          source_id: makeId('source'),
          user_ref: userRef,
          viewable: true,
        },
      };
    case 'decision.rewarded':
      return {
        type,
        data: { ...decision, user_ref: userRef, reward: { type: 'test', amount: 1 } },
      };
    case 'policy.blocked':
      return {
        type,
        data: { ...decision, rule: { id: makeId('policy'), kind: 'policy', name: 'Test' } },
      };
    case 'creative.review_updated':
      return {
        type,
        data: {
          creative_id: makeId('creative'),
          previous: 'pending_review',
          current: 'approved',
        },
      };
    case 'kill_switch.changed':
      return {
        type,
        data: {
          kill_switch_id: makeId('killSwitch'),
          scope: 'placement',
          target_id: 'test',
          state: 'on',
          actor: userRef,
        },
      };
  }
}
