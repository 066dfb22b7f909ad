import type { DecisionState, RecordedEvent } from '../decision/decision-state.ts';

/** Users have to be locked before their decisions are. */
export class ViewersNotLockedError extends Error {
  readonly viewers: string[];
  constructor(viewers: string[]) {
    super(`${viewers.length} users must be locked first.`);
    this.viewers = viewers;
  }
}

/**
 * A reward is granted while its user is locked. Mostly the completion comes last, and its request tells the user; an
 * event that comes after it may complete the evidence as well.
 *
 * @param viewers - the users that are locked
 * @throws ViewersNotLockedError
 */
export function requireLocked(
  viewers: readonly string[],
  judged: readonly DecisionState[],
  known: ReadonlyMap<string, readonly RecordedEvent[]>,
): void {
  const missing = judged.flatMap(({ id, viewer, rewardState }) => {
    const isOpen = rewardState === 'none' || rewardState === 'pending';
    const isCompleted = known.get(id)?.some(({ type }) => type === 'complete') === true;
    return viewer !== null && isOpen && isCompleted && !viewers.includes(viewer) ? viewer : [];
  });
  if (missing.length > 0) throw new ViewersNotLockedError([...new Set(missing)]);
}
