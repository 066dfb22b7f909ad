import type { DecisionRequest } from '../protocol/wire.ts';
import type { Profile } from './decision/describe-request.ts';
import type { CheckedOptions, ConsentOptions, UserOptions } from './options.ts';
import type { Clock } from './platform/clock.ts';
import { newRandomId } from './platform/ids.ts';

/** The current player and consent, as ad requests state them. */
export interface PlayerContext {
  /** What a request states about the player. */
  current(): Profile;
  /** False until the page’s consent is known; nothing may be sent before that. */
  isKnown(): boolean;
  /** Loads the code that reads the page’s consent again if it failed to load; returns whether it did. */
  retryConsent(): boolean;
  /** Calls back when `current()` changes, for example when consent becomes known. */
  onChange(listener: () => void): () => void;
  /**
   * The game's own id of the player, which stays on the device in child-directed mode; `''` without one, and
   * undefined until the game's `userToken` function has returned a token.
   */
  playerRef(): string | undefined;
  /** Calls the game’s `userToken` function if only its token identifies the player. */
  identify(): void;
  /** Calls back when a user token has identified the player. */
  onIdentified(listener: () => void): void;
  setUser(user: UserOptions): void;
  setConsent(consent: ConsentOptions): void;
  setSimulation(outcome: DecisionRequest['simulate']): void;
  destroy(): void;
}

/** The game's own id of the player; `''` without one, undefined if only the `userToken` function knows it. */
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
 * Keeps what requests state about the player. In child-directed mode a random id per visit replaces the game's
 * own: the service requires one for rewards, and a random id identifies nobody.
 */
export function createPlayerContext(options: CheckedOptions, clock: Clock): PlayerContext {
  const { childDirected, consent: given } = options;
  const ofPage = given === 'page';
  let consent = ofPage ? undefined : given;
  let simulate: DecisionRequest['simulate'];
  let user: UserOptions;
  let playerRef: string | undefined;
  let childRef: string;
  /** Stops following the page’s consent; undefined once stopped. */
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
    // The game’s session switched to another player, for whom the preloaded ads were not requested.
    if (before !== undefined) tell();
    identified();
  }

  /** Identifies the player from each token that the game's function returns. */
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
      // The token is not sent; it only identifies the child whose reward it is.
      user: childDirected ? { childDirected, userRef: childRef, userToken: user.userToken } : user,
      playerRef,
      consent,
      simulate,
    }),
    playerRef: () => playerRef,
    identify() {
      const { userToken } = user;
      if (playerRef !== undefined || typeof userToken !== 'function') return;
      // If the function fails, so does the next request, which reports it.
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
      // Consent set by the game replaces that of the page.
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
