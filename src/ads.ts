import type { Decision } from '../protocol/wire.ts';
import type { ConsentOptions, RequestOptions, Simulation, UserOptions } from './options.ts';
import type { OutboxDiagnostics } from './outbox/state.ts';
import type { Availability, RewardReport, ShowResult } from './outcome.ts';
import type { RewardDiagnostics } from './reward/rewards.ts';
import type { RewardHandler } from './reward/delivery.ts';
import type { SpendHandler, Wallet } from './wallet/wallet.ts';

/**
 * Options for one `preload()` call. A later call to show an ad uses the preloaded ad only if both calls have the same
 * `customData` and `segments`. Otherwise, it requests another ad.
 */
export interface PreloadOptions extends RequestOptions {
  signal?: AbortSignal;
  /**
   * The format that the placement must have. If it has another one, the outcome is `invalid_placement`, as it would be
   * for a call to show the ad. Default: any.
   */
  format?: 'rewarded' | 'interstitial' | 'banner';
  /**
   * A decision that your own server requested with its secret key, exactly as the service returned it. The next call to
   * show an ad for the placement uses this decision. Because your server identifies the player, no client can
   * impersonate another player.
   */
  decision?: Decision;
}

/** Options for one call to show an ad. */
export interface ShowOptions extends RequestOptions {
  /** Whether the ad starts without sound. Default: the `muted` option passed to `createAds()`. */
  muted?: boolean;
  /** Aborting this signal, at any time, ends the call with the outcome `aborted`. */
  signal?: AbortSignal;
  /** Called just before the ad covers the game. The game is already paused. */
  onOpen?: () => void;
  /**
   * Called when the ad has closed and the game has resumed. The result may still be waiting for the reward’s
   * confirmation.
   */
  onClose?: () => void;
}

/** Options for `setUser()`. */
export interface SetUserOptions {
  /**
   * Whether the new player receives the previous player’s undelivered and pending rewards. As far as the service is
   * concerned, these rewards still belong to the previous player, and `EarnedReward.userRef` is that player’s id. By
   * default, the rewards wait until the previous player returns.
   *
   * A guest player’s wallet is moved to the new player, once, if a `userToken` proves who that is.
   */
  transferRewards?: boolean;
}

/** A house ad inside the page. */
export interface Banner {
  /** Removes the banner from the page, or aborts its request. May be called more than once. */
  remove(): void;
  /**
   * Resolves with `completed` once the banner is on the page, or with the outcome that explains why it was not shown.
   */
  readonly result: Promise<ShowResult>;
}

/** The portal that the page belongs to. Its ads are then the only ones. */
export interface PortalPage {
  /** The name passed or found with the option `portal`, such as `poki`. */
  readonly name: string;
  /** The language that the portal shows to the player, once it is known. */
  language?: string | undefined;
  /**
   * Whether the portal has turned the sound off. The SDK mutes the page’s `<audio>` and `<video>` elements; mute Web
   * Audio yourself when `change` is emitted.
   */
  muted: boolean;
  /**
   * Returns a token, signed by the portal, that tells your server who is playing. Undefined if the portal has none for
   * this player.
   */
  playerToken(): Promise<string | undefined>;
  /** Tells the portal that the player begins to play, or goes on playing. */
  gameplayStart(): void;
  /** Tells the portal that the game stops, as for a menu, a lost run or an ad. */
  gameplayStop(): void;
  /** Tells the portal that the player can see and use the game. */
  loadingFinished(): void;
}

/** The events that `ads.on()` supports, and the arguments that their handlers receive. */
export interface AdsListeners {
  /** An ad is about to cover the game. */
  open: (placement: string) => void;
  /** The ad’s first frame is on the screen. */
  start: (placement: string) => void;
  /** The ad has closed and the game is running again. Emitted once per `open`, together with `onClose`. */
  close: (placement: string) => void;
  /** A call of `showRewarded()` or `showInterstitial()` has ended, with or without an ad. Emitted for every call. */
  result: (placement: string, result: ShowResult) => void;
  /**
   * The result of `canShow()`, `isLoaded()`, `availability()`, `rewards()` or `diagnostics()` may have changed. For example, a
   * preload or an ad began or ended, a cooldown or cap ended, the consent, player or network changed, or a reward was
   * confirmed or delivered.
   */
  change: () => void;
  /**
   * A confirmed reward, emitted once per decision, during one of the engine’s frames. After a crash or a reload, it is
   * emitted again if the handler (or the promise that it returned) had not finished.
   */
  reward: RewardHandler;
  /**
   * The service has charged the player for `ads.wallet.spend()`: hand out what was bought. Emitted once per spend,
   * during one of the engine’s frames, with the same rules as `reward`.
   */
  spend: SpendHandler;
}

/** The SDK’s state, for support requests and debug screens. */
export interface Diagnostics {
  /** The publishable key’s environment. Null if the options are invalid. */
  environment: 'sandbox' | 'live' | null;
  /** The placement whose ad is being requested or is on the screen. */
  showing: string | null;
  outbox: OutboxDiagnostics;
  rewards: RewardDiagnostics;
}

/**
 * Ads for one game. No call throws for an ad-related reason, and every promise settles. `Placement` is the names of the
 * game’s placements, if the compiler should find misspelled ones.
 */
export interface Ads<Placement extends string = string> {
  /** The portal that this page belongs to, with the option `portal`. Undefined on any other page. */
  readonly portal?: PortalPage | undefined;
  /**
   * Whether an ad may be offered now: false while consent is unknown, an ad is being requested or shown, an ad rule
   * holds the ad back, the service can't be reached, or the last request for this placement ended without an ad (until
   * `retryAt`, or for 30 s). Ad rules are known from the first response on, also after a reload. True does not mean that an ad is loaded; see {@link Ads.isLoaded}. Sends nothing. Emits `change` when the result may
   * have changed.
   */
  canShow(placement: Placement, options?: RequestOptions): boolean;
  /**
   * Whether a call to show an ad would start at once, without a request: an ad was preloaded with the same `customData`
   * and `segments` less than a minute ago. After that, its decision must be requested again, so that a kill switch
   * takes effect, but its media is kept. Sends nothing. Emits `change` when the result may have changed.
   */
  isLoaded(placement: Placement, options?: RequestOptions): boolean;
  /** Like {@link Ads.canShow}, but also returns why no ad may be offered and when a request can succeed again. */
  availability(placement: Placement, options?: RequestOptions): Availability;
  /**
   * Whether the player sees no interstitials or banners, as a supporter of the game: your server signed the user token
   * with `adFree`. Lets a game hide what is about ads. It is not a proof: only your server knows who has paid. If
   * `userToken` is a function, the first call also calls that function, and `change` follows.
   */
  isAdFree(): boolean;
  /** Loads a decision and its media, so that a later call to show the ad starts immediately. */
  preload(placement: Placement, options?: PreloadOptions): Promise<Availability>;
  /**
   * Shows an ad that earns the placement’s reward.
   *
   * @example
   * const result = await ads.showRewarded('revive');
   * if (result.outcome === 'rewarded' || result.outcome === 'pending') revivePlayer();
   */
  showRewarded(placement: Placement, options?: ShowOptions): Promise<ShowResult>;
  /** Shows an ad at a natural pause in the game, without a reward. */
  showInterstitial(placement: Placement, options?: ShowOptions): Promise<ShowResult>;
  /** Mounts a house ad in an element on the page, where it stays until it is removed or `destroy()` is called. */
  mountBanner(placement: Placement, element: HTMLElement): Banner;
  /**
   * Calls `handler` on every `event`, with `context` as its `this`. Errors thrown by handlers are reported as uncaught
   * errors. Returns a function that removes the handler.
   *
   * @example
   * ads.on('reward', async ({ decisionId, reward }) => save.addOnce(decisionId, reward));
   */
  on<Name extends keyof AdsListeners>(
    event: Name,
    handler: AdsListeners[Name],
    context?: unknown,
  ): () => void;
  /** Like {@link Ads.on}, but only for the next event. */
  once<Name extends keyof AdsListeners>(
    event: Name,
    handler: AdsListeners[Name],
    context?: unknown,
  ): () => void;
  /**
   * Removes a handler. With `context`, removes it only if it was added with that context. Without `handler`, removes
   * all handlers for the event.
   */
  off<Name extends keyof AdsListeners>(
    event: Name,
    handler?: AdsListeners[Name],
    context?: unknown,
  ): void;
  /** The player’s wallet, for rewards that the service credits: no server is needed. */
  readonly wallet: Wallet;
  /** Requests the status of one reward from the service. While offline, returns the status stored on this device. */
  rewardStatus(decisionId: string): Promise<RewardReport>;
  /** Returns the rewards on this device that have not been delivered yet. */
  rewards(): Promise<RewardReport[]>;
  /**
   * Switches to another player or changes the current player’s data, for example when a player signs in or out.
   * Replaces all four {@link UserOptions} immediately and discards preloaded ads. Rewards wait for the player who
   * earned them, unless they are transferred.
   *
   * @throws OptionError for an unknown option. Data that can't be used is left out, with a warning.
   *
   * @example
   * ads.setUser({ userRef: session.userId }, { transferRewards: true }); // a guest signed in
   * ads.setUser({}); // signed out
   */
  setUser(user: UserOptions, options?: SetUserOptions): void;
  /**
   * Sets the player’s consent, effective immediately. Discards ads that were preloaded under different consent.
   * Overrides the consent that `createAds({ consent: 'page' })` reads from the page.
   *
   * @throws OptionError for anything other than {@link ConsentOptions}.
   */
  setConsent(consent: ConsentOptions): void;
  /**
   * Forces the outcome of all subsequent requests. Call it without an outcome to stop. Works only in the sandbox.
   *
   * @throws OptionError for an unknown outcome.
   */
  simulate(outcome?: Simulation): void;
  diagnostics(): Diagnostics;
  /**
   * Opens or closes the debug panel, which shows the latest decisions and their reasons, the queue, the rewards, and
   * the steps in the last ad break. `?trueward-debug` in the URL also opens the panel.
   */
  toggleDebugPanel(): void;
  /**
   * Ends any ad in progress with the outcome `aborted`, resumes the game and stops all work. Stored events are kept.
   */
  destroy(): void;
}
