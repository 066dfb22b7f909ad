/**
 * How a portal answered a call to show an ad.
 *
 * - `completed`: the ad was shown. For a rewarded ad, the portal says that the player has earned the reward.
 * - `dismissed`: the player closed the ad before the reward was due.
 * - `no_fill`: the portal had no ad.
 * - `capped`: the portal shows no ad now, because it has shown one recently.
 * - `blocked`: an ad blocker prevents ads.
 * - `disabled`: the portal shows no ads in this game, at least until the page is loaded again.
 * - `not_ready`: the portal's SDK is not ready yet.
 * - `offline`: the portal could not be reached.
 * - `error`: anything else.
 */
export type PortalResult =
  | 'completed'
  | 'dismissed'
  | 'no_fill'
  | 'capped'
  | 'blocked'
  | 'disabled'
  | 'not_ready'
  | 'offline'
  | 'error';

/** A {@link PortalResult}, optionally with the portal's own code or message. */
export type PortalAnswer = PortalResult | { result: PortalResult; detail?: string | undefined };

/** What the SDK passes to {@link PortalAdapter.show}. */
export interface PortalCall {
  /** Call it when the ad begins. If the portal doesn't say so, call it just before you ask for the ad. */
  onStart(): void;
  /**
   * Call it as soon as the portal says that the reward is earned, if it does so before the ad has closed. The reward is
   * stored at once. `completed` then adds nothing.
   */
  onEarned(): void;
  /**
   * The decision's id, if the ad is a page source's. Pass it to the network as its custom parameter if its server
   * confirms views. Undefined on a portal.
   */
  decisionId?: string | undefined;
  /** Aborts when nobody waits for this ad anymore. An ad that can still be called off should not begin. */
  signal: AbortSignal;
}

/** What a portal may do to the game at any time. Each of them may be called repeatedly. */
export interface PortalSignals {
  pause(): void;
  resume(): void;
  mute(): void;
  unmute(): void;
}

/**
 * The SDK's interface to a portal whose ads are the only ones that a game on it may show. Only the first three members
 * are required. A method that throws, rejects, returns nonsense or never answers ends the call with a typed outcome.
 */
export interface PortalAdapter {
  /** The portal's name, for `ads.portal`, ids and messages. */
  readonly name: string;
  /**
   * Prepares the portal's SDK. Called once, and again after it has rejected or not answered for 15 seconds. The SDK calls
   * no other method before it has resolved.
   */
  load(): unknown;
  /** Shows an ad. Resolves when the ad has closed, or when there is none. */
  show(
    kind: 'rewarded' | 'interstitial',
    placement: string,
    call: PortalCall,
  ): Promise<PortalAnswer>;
  /** Loads an ad ahead. Resolves with whether one is loaded. */
  preload?(kind: 'rewarded' | 'interstitial', placement: string): unknown;
  /** Passes on what the portal does to the game. May return a function that stops this. */
  pauseSignals?(signals: PortalSignals): unknown;
  /** Returns a token, signed by the portal, that tells your server who is playing. */
  playerToken?(): unknown;
  /** Returns the language that the portal shows to the player. */
  language?(): unknown;
  /** The player begins to play, or goes on playing. */
  gameplayStart?(): void;
  /** The game stops: a menu, a lost run or an ad. */
  gameplayStop?(): void;
  /** The game has loaded, and the player can see and use it. */
  loadingFinished?(): void;
}
