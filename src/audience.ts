import type { DecisionRequest } from '../protocol/wire.ts';
import type { CheckedOptions, ConsentOptions } from './options.ts';
import type { Clock } from './platform/clock.ts';
import { newRandomId } from './platform/ids.ts';

/** Who ads are asked for, as it is at each moment. */
export interface Audience {
  /** Everything of a request. */
  describe(placement: string): DecisionRequest;
  /** False while the consent of the page is awaited: nothing may be sent. */
  isKnown(): boolean;
  /** Calls back when consent becomes known, or changes. */
  onKnown(listener: () => void): () => void;
  setConsent(consent: ConsentOptions): void;
  setSimulation(outcome: DecisionRequest['simulate']): void;
  destroy(): void;
}

/**
 * Keeps what requests say of the player. A page in child-directed mode tells a name made up for this
 * visit instead of the game's own: the service wants one for rewards, and it leads to nobody.
 */
export function createAudience(options: CheckedOptions, clock: Clock): Audience {
  const { childDirected, customData, locale, userRef } = options;
  const ofPage = options.consent === 'page';
  let consent = options.consent === 'page' ? undefined : options.consent;
  let simulate: DecisionRequest['simulate'];
  let following = ofPage;
  let unfollow = (): void => {};
  const listeners = new Set<() => void>();

  function setConsent(next: ConsentOptions): void {
    consent = next;
    for (const listener of listeners) listener();
  }

  async function follow(): Promise<void> {
    const { followPageConsent } = await import('./platform/page-consent.ts');
    if (following) unfollow = followPageConsent(clock, setConsent);
  }

  function stopFollowing(): void {
    following = false;
    unfollow();
  }

  // Without the code that reads it, consent stays unknown, and nothing is sent.
  if (ofPage) follow().catch(() => undefined);

  const user = childDirected
    ? { user_ref: `child-${newRandomId()}`, child_directed: true }
    : {
        ...(userRef !== undefined && { user_ref: userRef }),
        ...(customData !== undefined && { custom_data: customData }),
        ...(childDirected !== undefined && { child_directed: childDirected }),
      };

  return {
    describe: (placement) => ({
      placement,
      viewport: { width: Math.max(1, innerWidth), height: Math.max(1, innerHeight) },
      locale,
      ...user,
      ...(consent && {
        consent: {
          status: consent.status,
          ...(consent.tcfString !== undefined && { tcf_string: consent.tcfString }),
          ...(consent.gppString !== undefined && { gpp_string: consent.gppString }),
        },
      }),
      ...(simulate && { simulate }),
    }),
    isKnown: () => !ofPage || consent !== undefined,
    onKnown(listener) {
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
    },
    destroy: stopFollowing,
  };
}
