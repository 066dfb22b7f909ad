import type { DecisionRequest } from '../protocol/wire.ts';
import type { Profile } from './decision/describe-request.ts';
import type { CheckedOptions, ConsentOptions, UserOptions } from './options.ts';
import type { Clock } from './platform/clock.ts';
import { newRandomId } from './platform/ids.ts';

/** Who plays and on which terms ads are asked for, as it is at each moment. */
export interface PlayerContext {
  /** What a request says of the player. */
  current(): Profile;
  /** False while the consent of the page is awaited: nothing may be sent. */
  isKnown(): boolean;
  /** Whether the code that reads the consent of the page could not be loaded; it is loaded anew then. */
  retryConsent(): boolean;
  /** Calls back when what requests say changes, as when consent becomes known. */
  onChange(listener: () => void): () => void;
  /**
   * The game's own name for the player, which stays on the device in child-directed mode; `''` without
   * one, and undefined until the game's function for user tokens has given one.
   */
  playerRef(): string | undefined;
  /** Calls the game’s function for user tokens, where the player is not known without it. */
  identify(): void;
  /** Calls back when a user token has named the player. */
  onIdentified(listener: () => void): void;
  setUser(user: UserOptions): void;
  setConsent(consent: ConsentOptions): void;
  setSimulation(outcome: DecisionRequest['simulate']): void;
  destroy(): void;
}

/** The game's own name for the player; `''` without one, undefined while only a function can tell. */
function refOf({ userRef, userToken }: UserOptions): string | undefined {
  if (userRef !== undefined || userToken === undefined) return userRef ?? '';
  return typeof userToken === 'string' ? subjectOf(userToken) : undefined;
}

/** The `sub` of a user token. Only the service can check the signature. */
function subjectOf(token: string): string | undefined {
  try {
    const [, payload = ''] = token.split('.');
    const { sub } = JSON.parse(atob(payload.replace(/-/g, '+').replace(/_/g, '/'))) as {
      sub?: unknown;
    };
    return typeof sub === 'string' ? sub : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Keeps what requests say of the player. A page in child-directed mode sends a name made up for this
 * visit instead of the game's own: the service wants one for rewards, and it leads to nobody.
 */
export function createPlayerContext(options: CheckedOptions, clock: Clock): PlayerContext {
  const { childDirected, consent: given } = options;
  const ofPage = given === 'page';
  let consent = ofPage ? undefined : given;
  let simulate: DecisionRequest['simulate'];
  let user: UserOptions;
  let playerRef: string | undefined;
  let childRef: string;
  /** Undefined once nothing is followed any more. */
  let unfollow: (() => void) | undefined = () => {};
  const listeners = new Set<() => void>();
  let identified = (): void => {};

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

  function readToken(token: string): void {
    const before = playerRef;
    playerRef = subjectOf(token) ?? before;
    if (playerRef === before) return;
    // The session of the game went over to another player: what was preloaded is not theirs.
    if (before !== undefined) tell();
    identified();
  }

  /** Learns who plays from each token that the game's function gives. */
  function watchTokens(next: UserOptions): UserOptions {
    const { userRef, userToken } = next;
    if (userRef !== undefined || typeof userToken !== 'function') return next;
    const watched: UserOptions = {
      ...next,
      userToken: async () => {
        const token = await userToken();
        if (user === watched) readToken(token);
        return token;
      },
    };
    return watched;
  }

  function setUser(next: UserOptions): void {
    user = watchTokens(next);
    playerRef = refOf(next);
    childRef = `child-${newRandomId()}`;
  }
  setUser(options);

  let consentFailed = false;
  function followPage(): void {
    import('./platform/page-consent.ts').then(
      ({ followPageConsent }) => {
        if (unfollow) unfollow = followPageConsent(clock, setConsent);
      },
      // Without the code that reads it, consent stays unknown, and nothing is sent.
      () => (consentFailed = true),
    );
  }
  if (ofPage) followPage();

  return {
    current: () => ({
      // Without the token, which is not sent, nobody knows whose a child's reward is.
      user: childDirected ? { childDirected, userRef: childRef, userToken: user.userToken } : user,
      playerRef,
      consent,
      simulate,
    }),
    playerRef: () => playerRef,
    identify() {
      const { userToken } = user;
      if (playerRef !== undefined || typeof userToken !== 'function') return;
      // A function that fails fails the next request too, which says so.
      Promise.resolve()
        .then(userToken)
        .catch(() => {});
    },
    onIdentified(listener) {
      identified = listener;
    },
    isKnown: () => !ofPage || consent !== undefined,
    retryConsent() {
      const failed = consentFailed;
      consentFailed = false;
      if (failed) followPage();
      return failed;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    setUser(next) {
      setUser(next);
      tell();
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
