import type { DecisionRequest } from '../protocol/wire.ts';
import type { CheckedOptions, ConsentOptions, UserOptions, UserToken } from './options.ts';
import type { Clock } from './platform/clock.ts';
import { attempt } from './platform/guard.ts';
import { newRandomId } from './platform/ids.ts';
import { loadPart } from './platform/load-part.ts';
import { listen, native } from './platform/native.ts';
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

/** Whether the service has made the player, for a game without ids of its own. */
export const isGuestRef = (ref: string | undefined): boolean => ref?.startsWith('ply_') === true;

/** A player. A guest who signs in becomes a different player. */
export interface Player {
  /**
   * The game's own id for the player. It is `''` if there is none, and undefined until the game's `userToken`
   * function has returned a token. In child-directed mode, it stays on the device.
   */
  readonly ref: string | undefined;
  /** The formats in which the player sees no ads, as the user token says. The service verifies its signature. */
  adFree?: readonly string[];
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
  /** Whether the player sees no ads in some format. The first call calls the game’s `userToken` function if needed. */
  isAdFree(): boolean;
  /** Calls `listener` when a user token has identified the player. */
  onIdentified(listener: () => void): void;
  setUser(user: UserOptions): void;
  setConsent(consent: ConsentOptions): void;
  setSimulation(outcome: DecisionRequest['simulate']): void;
  destroy(): void;
}

/** What a user token says. Only the service can verify the signature. */
function readClaims(token: string): { ref: string | undefined; adFree: readonly string[] } {
  const claims = attempt(() => {
    const [, payload = ''] = token.split('.');
    return JSON.parse(atob(payload.replace(/-/g, '+').replace(/_/g, '/'))) as {
      sub?: unknown;
      ad_free?: unknown;
      ad_free_formats?: unknown;
    } | null;
  });
  const formats = claims?.ad_free_formats ?? ['interstitial', 'banner'];
  return {
    ref: typeof claims?.sub === 'string' ? claims.sub : undefined,
    adFree: claims?.ad_free === true && Array.isArray(formats) ? (formats as string[]) : [],
  };
}

/** Describes the player as far as the options tell. Only the `userToken` function may know more. */
function describePlayer({ userRef, userToken }: UserOptions): Player {
  const { adFree, ref } = readClaims(typeof userToken === 'string' ? userToken : '');
  return { ref: userRef ?? (userToken === undefined ? '' : ref), adFree };
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
  const followController = new native.AbortController();
  const listeners = new Set<() => void>();
  let onIdentified = (): void => {};
  let isIdentifying: boolean;

  function notify(): void {
    for (const listener of listeners) listener();
  }

  function setConsent(next: ConsentOptions): void {
    consent = next;
    notify();
  }

  /**
   * Wraps the game's function so that each token it returns identifies the player, unless the game has named the player,
   * and shows whether the player sees ads.
   */
  function watchTokens(
    getToken: () => string | Promise<string>,
    isNamed: boolean,
    unidentified: Player,
  ): UserToken {
    let identifiedPlayer = unidentified;
    let callCount = 0;
    let latestCall = 0;
    return async () => {
      const call = (callCount += 1);
      const token = await getToken();
      const { adFree, ref } = readClaims(token);
      const isLatest = call > latestCall;
      if (isLatest) latestCall = call;
      if (isNamed || ref === undefined || ref === identifiedPlayer.ref) {
        const isChanged = isLatest && String(adFree) !== String(identifiedPlayer.adFree ?? '');
        if (isChanged) identifiedPlayer.adFree = adFree;
        if (isChanged) onIdentified();
        return token;
      }
      if (!isLatest)
        throw new Error('a later call has already returned a token for a different player');
      const previous = identifiedPlayer;
      identifiedPlayer =
        previous.ref === undefined ? Object.assign(previous, { adFree, ref }) : { adFree, ref };
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
    player = describePlayer(next);
    isIdentifying = false;
    childRef = `child-${newRandomId()}`;
    user =
      typeof userToken === 'function'
        ? { ...next, userToken: watchTokens(userToken, next.userRef !== undefined, player) }
        : next;
  }
  setUser(options);

  /** Calls the game’s `userToken` function. If this fails, the next request calls it again and reports the failure. */
  function callForToken(): void {
    const { userToken } = user;
    if (typeof userToken !== 'function') return;
    Promise.resolve()
      .then(userToken)
      .catch(() => {});
  }

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
      if (player.ref === undefined) callForToken();
    },
    isAdFree() {
      if (!isIdentifying) callForToken();
      isIdentifying = true;
      return (player.adFree ?? []).length > 0;
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
