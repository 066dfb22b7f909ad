import type { DecisionRequest } from '../protocol/wire.ts';
import type { Profile } from './decision/describe-request.ts';
import type { CheckedOptions, ConsentOptions } from './options.ts';
import type { Clock } from './platform/clock.ts';
import { newRandomId } from './platform/ids.ts';

/** Who ads are asked for, as it is at each moment. */
export interface Audience {
  /** What a request says of the player. */
  current(): Profile;
  /** False while the consent of the page is awaited: nothing may be sent. */
  isKnown(): boolean;
  /** Calls back when what requests say changes, as when consent becomes known. */
  onChange(listener: () => void): () => void;
  setConsent(consent: ConsentOptions): void;
  setSimulation(outcome: DecisionRequest['simulate']): void;
  destroy(): void;
}

/**
 * Keeps what requests say of the player. A page in child-directed mode tells a name made up for this
 * visit instead of the game's own: the service wants one for rewards, and it leads to nobody.
 */
export function createAudience(options: CheckedOptions, clock: Clock): Audience {
  const { childDirected, consent: given } = options;
  const ofPage = given === 'page';
  let consent = ofPage ? undefined : given;
  let simulate: DecisionRequest['simulate'];
  /** Undefined once nothing is followed any more. */
  let unfollow: (() => void) | undefined = () => {};
  const listeners = new Set<() => void>();

  function tell(): void {
    for (const listener of listeners) listener();
  }

  function setConsent(next: ConsentOptions): void {
    consent = next;
    tell();
  }

  function stopFollowing(): void {
    unfollow?.();
    unfollow = undefined;
  }

  if (ofPage) {
    import('./platform/page-consent.ts').then(
      ({ followPageConsent }) => {
        if (unfollow) unfollow = followPageConsent(clock, setConsent);
      },
      // Without the code that reads it, consent stays unknown, and nothing is sent.
      () => undefined,
    );
  }

  const user = childDirected ? { childDirected, userRef: `child-${newRandomId()}` } : options;

  return {
    current: () => ({ user, consent, simulate }),
    isKnown: () => !ofPage || consent !== undefined,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    setConsent(next) {
      // What the game says replaces what the page says.
      stopFollowing();
      setConsent(next);
    },
    setSimulation(outcome) {
      simulate = outcome;
      tell();
    },
    destroy: stopFollowing,
  };
}
