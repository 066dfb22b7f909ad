import {
  type DecisionState,
  isCompletion,
  type RecordedEvent,
} from '../decision/decision-state.ts';

/** Thrown when a decision is locked but its player is not. Players must be locked before decisions. */
export class ViewersNotLockedError extends Error {
  readonly viewers: string[];
  constructor(viewers: string[]) {
    super(`${viewers.length} players must be locked before their decisions.`);
    this.viewers = viewers;
  }
}

/**
 * Makes sure that every player who may earn a reward is locked. Usually, the completion arrives last, and its request
 * identifies the player to lock. If other evidence arrives after the completion, the player is not locked yet.
 *
 * @param viewers the locked players
 * @throws ViewersNotLockedError when a player is not locked.
 */
export function requireLockedViewers(
  viewers: readonly string[],
  decisions: readonly DecisionState[],
  recordedEvents: ReadonlyMap<string, readonly RecordedEvent[]>,
): void {
  const missingViewers = decisions.flatMap(({ id, viewer, rewardState }) => {
    const isUnsettled = rewardState === 'none' || rewardState === 'pending';
    const isCompleted = recordedEvents.get(id)?.some(isCompletion) === true;
    return viewer !== null && isUnsettled && isCompleted && !viewers.includes(viewer) ? viewer : [];
  });
  if (missingViewers.length > 0) throw new ViewersNotLockedError([...new Set(missingViewers)]);
}
