/** How a stand-in behaves. A test changes it between two calls. */
export interface PortalBehavior {
  /**
   * How the portal answers. `silence` answers only after `wake()`; `exception` throws from the call itself.
   */
  answer: 'ad' | 'no_fill' | 'capped' | 'blocked' | 'failure' | 'silence' | 'exception';
  /** How it calls back: as documented, within the call, every time twice, or with the reward after the end of the ad. */
  order: 'documented' | 'at once' | 'twice' | 'reward last';
  /** Shows the ad. Resolves with whether the player has watched all of it. */
  play(kind: 'rewarded' | 'interstitial'): Promise<boolean>;
}

/** What a portal's SDK is built on. */
export interface Stage {
  told: string[];
  listeners: { pause: () => void; resume: () => void; audio: (isEnabled: boolean) => void };
  /** Runs one ad. */
  run(kind: 'rewarded' | 'interstitial', callbacks: Callbacks): void;
  /** Whether the portal has turned the sound off. */
  isMuted(): boolean;
}

/** How a portal calls back. */
export interface Callbacks {
  /** Offers the ad to the game, which calls `show` if it wants it. Default: the ad is shown at once. */
  offered?(show: () => void): void;
  started?(): void;
  earned?(): void;
  /** `isWatched` is false if the player closed the ad. */
  ended(isWatched: boolean): void;
  failed(answer: Exclude<PortalBehavior['answer'], 'ad' | 'silence' | 'exception'>): void;
}
