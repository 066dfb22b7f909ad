import type { DecisionRequest } from '../protocol/wire.ts';
import type { CheckedOptions, ConsentOptions, UserOptions, UserToken } from './options.ts';
import type { Clock } from './platform/clock.ts';
import { newRandomId } from './platform/ids.ts';
import { loadPart } from './platform/load-part.ts';
import { listen } from './platform/native.ts';
import { browserPageLifecycle, type Connectivity } from './platform/page.ts';

/** The player's data, as sent in requests. */
export interface Profile {
  user: {
    userRef?: string;
    userToken?: UserToken | undefined;
    customData?: string;
    childDirected?: boolean;
    segments?: string[];
  };
  consent:
    | { status: 'granted' | 'denied' | 'unknown'; tcfString?: string; gppString?: string }
    | undefined;
  simulate: DecisionRequest['simulate'];
  player?: Player;
}

/** A player. A guest who signs in becomes a different player. */
export interface Player {
  /**
   * The game's own id for the player. It is `''` if there is none, and undefined until the game's `userToken`
   * function has returned a token. In child-directed mode, it stays on the device.
   */
  readonly ref: string | undefined;
}

/** Tracks the current player and consent for ad requests. */
export interface PlayerContext {
  /** Returns the player's data for a request. */
  current(): Profile;
  /** Whether the page’s consent is known. Until then, nothing may be sent. */
  isConsentKnown(): boolean;
  /** Calls `listener` when `current()` changes, for example when consent becomes known. */
  onChange(listener: () => void): () => void;
  player(): Player;
  /** Calls the game’s `userToken` function if nothing else identifies the player. */
  identify(): void;
  /** Calls `listener` when a user token has identified the player. */
  onIdentified(listener: () => void): void;
  setUser(user: UserOptions): void;
  setConsent(consent: ConsentOptions): void;
  setSimulation(outcome: DecisionRequest['simulate']): void;
  destroy(): void;
}

/**
 * Returns the game's id for the player: `''` if there is none, or undefined if only the `userToken` function knows it.
 */
function findRef({ userRef, userToken }: UserOptions): string | undefined {
  if (userRef !== undefined || userToken === undefined) return userRef ?? '';
  return typeof userToken === 'string' ? readSubject(userToken) : undefined;
}

/** Returns a user token's `sub` claim. Only the service can verify the signature. */
function readSubject(token: string): string | undefined {
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
 * Holds the player's data for requests. The service requires a player id for rewards. In child-directed mode, that is a
 * random per-visit id, which does not identify anyone.
 */
export function createPlayerContext(options: CheckedOptions, clock: Clock): PlayerContext {
  const { childDirected, consent: initialConsent } = options;
  const followsPage = initialConsent === 'page';
  let consent = followsPage ? undefined : initialConsent;
  let simulate: DecisionRequest['simulate'];
  let user: UserOptions;
  let player: Player;
  let childRef: string;
  const followController = new AbortController();
  const listeners = new Set<() => void>();
  let onIdentified = (): void => {};

  function notify(): void {
    for (const listener of listeners) listener();
  }

  function setConsent(next: ConsentOptions): void {
    consent = next;
    notify();
  }

  /** Wraps the game's function so that each token it returns identifies the player. */
  function watchTokens(getToken: () => string | Promise<string>, unidentified: Player): UserToken {
    let identifiedPlayer = unidentified;
    let callCount = 0;
    let latestCall = 0;
    return async () => {
      const call = (callCount += 1);
      const token = await getToken();
      const ref = readSubject(token);
      if (ref === undefined) return token;
      const isLatest = call > latestCall;
      if (isLatest) latestCall = call;
      if (ref === identifiedPlayer.ref) return token;
      if (!isLatest)
        throw new Error('a later call has already returned a token for a different player');
      const previous = identifiedPlayer;
      identifiedPlayer = previous.ref === undefined ? Object.assign(previous, { ref }) : { ref };
      if (player === previous && player !== identifiedPlayer) {
        // The game’s session has switched to another player. The preloaded ads were requested for the previous one.
        player = identifiedPlayer;
        notify();
      }
      onIdentified();
      return token;
    };
  }

  function setUser(next: UserOptions): void {
    const { userToken } = next;
    player = { ref: findRef(next) };
    childRef = `child-${newRandomId()}`;
    user =
      typeof userToken === 'function' && next.userRef === undefined
        ? { ...next, userToken: watchTokens(userToken, player) }
        : next;
  }
  setUser(options);

  // Until this code has loaded, consent stays unknown and nothing is sent.
  async function followPage(): Promise<void> {
    const { signal } = followController;
    const importPart = () => import('./platform/page-consent.ts');
    const followPageConsent = await loadPart(importPart, 'followPageConsent', { clock, signal });
    const unfollow = followPageConsent(clock, setConsent, browserPageLifecycle);
    listen(signal, 'abort', unfollow);
  }
  // Rejects only if the page’s consent is no longer needed.
  if (followsPage) followPage().catch(() => undefined);

  return {
    current: () => ({
      // The token is not sent. It only identifies the child who earns the reward.
      user: childDirected ? { childDirected, userRef: childRef, userToken: user.userToken } : user,
      player,
      consent,
      simulate,
    }),
    player: () => player,
    identify() {
      const { userToken } = user;
      if (player.ref !== undefined || typeof userToken !== 'function') return;
      // If this fails, the next request calls the function again and reports the failure.
      Promise.resolve()
        .then(userToken)
        .catch(() => {});
    },
    onIdentified(listener) {
      onIdentified = listener;
    },
    isConsentKnown: () => !followsPage || consent !== undefined,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    setUser(next) {
      setUser(next);
      notify();
    },
    setConsent(next) {
      // The game's own consent setting overrides the page's.
      followController.abort();
      setConsent(next);
    },
    setSimulation(outcome) {
      simulate = outcome;
      notify();
    },
    destroy: () => followController.abort(),
  };
}

/** Wraps `fetch` so that nothing is sent before consent is known. */
export function fetchWhenConsentKnown(
  { isConsentKnown }: Pick<PlayerContext, 'isConsentKnown'>,
  fetch: typeof globalThis.fetch,
): typeof globalThis.fetch {
  return (...request) =>
    isConsentKnown() ? fetch(...request) : Promise.reject(new Error('consent_unknown'));
}

/** Wraps connectivity so that requests are also retried when consent becomes known. */
export function connectivityWhenConsentKnown(
  { onChange }: Pick<PlayerContext, 'onChange'>,
  connectivity: Connectivity,
): Connectivity {
  return {
    ...connectivity,
    onOnline(listener) {
      const disposers = [connectivity.onOnline(listener), onChange(listener)];
      return () => disposers.forEach((dispose) => dispose());
    },
  };
}
