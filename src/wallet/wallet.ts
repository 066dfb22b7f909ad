import type { EarnedReward, Reason } from '../outcome.ts';
import type { PlayerContext } from '../player-context.ts';
import type { UserOptions } from '../options.ts';
import type { Ledger } from '../reward/ledger.ts';
import type { Clock } from '../platform/clock.ts';
import type { Emitter } from '../platform/emitter.ts';
import type { Connectivity, PageLifecycle } from '../platform/page.ts';
import type { ServiceClient } from '../transport/service-client.ts';

/** Why the wallet could not be used. */
export interface WalletFailure {
  /**
   * - `offline`: the service can't be reached. Nothing was charged.
   * - `unavailable`: this player has no wallet, or the device can't store anything; `reason` says why.
   * - `error`: anything else; `reason` says why.
   */
  outcome: 'offline' | 'unavailable' | 'error';
  /** A stable code that explains the outcome. */
  reason?: Reason;
  /** Details for the developer. */
  detail?: string;
}

/** The result of reading the wallet. */
export type ReadResult = { outcome: 'read'; reason?: never } | WalletFailure;

/** The result of a spend. */
export type SpendResult =
  | {
      /**
       * - `spent`: the service has charged the player. The `spend` event delivers what was bought.
       * - `insufficient`: the player has less than that. Nothing was charged.
       * - `pending`: the service has not answered. The spend is repeated until it does, and is charged at most once. If
       *   it succeeds, the `spend` event follows.
       */
      outcome: 'spent' | 'insufficient' | 'pending';
      /** The id of the spend. */
      id: string;
      /** The player’s balance, as far as it is known. */
      balance?: number;
      reason?: Reason;
      detail?: never;
    }
  | (WalletFailure & { id?: never; balance?: never });

/** A code for another device. */
export type LinkCodeResult =
  { outcome: 'created'; code: string; expiresAt: Date; reason?: never } | WalletFailure;

/**
 * The result of using a code from another device.
 *
 * - `linked`: this device now has the other device’s player.
 * - `wrong_code`: the code is wrong, was used, or has expired.
 * - `not_empty`: this device’s own player has something in the wallet, which this device could not reach any more. Ask
 *   the player, and call again with `replace`.
 */
export type LinkResult =
  { outcome: 'linked' | 'wrong_code' | 'not_empty'; reason?: never } | WalletFailure;

/** Options for one spend. */
export interface SpendOptions {
  /** What the player buys, for your reports: up to 64 characters. */
  reason?: string;
  /**
   * For what a player buys only once: your id for it, such as `red-hat`, of up to 64 letters, digits and hyphens. The
   * player is charged once for this id, however often, after whatever crash and on whichever device `spend()` is called
   * with it. Each call that finds it charged is followed by the `spend` event, with what was charged: a price that has
   * changed since then changes nothing. Default: a new id for each call.
   */
  id?: string;
}

/** A spend that the service has charged. */
export interface CompletedSpend {
  /** The id of the spend. Store it with what the player bought, so that a repeated call does nothing. */
  id: string;
  type: string;
  amount: number;
  reason?: string;
}

/** Called with every completed spend. The spend counts as delivered when the handler has finished. */
export type SpendHandler = (spend: CompletedSpend) => void | Promise<void>;

/**
 * The player’s wallet, which the service keeps: balances, and things that the player has for a time. Its code is loaded
 * when it is first used. No call throws, and every promise settles.
 */
export interface Wallet {
  /** Reads the wallet from the service. Emits `change`. */
  refresh(): Promise<ReadResult>;
  /**
   * Returns the player’s reference, or undefined if it is not known. For a guest, it is `ply_…`: show it where players
   * look for help, because with it you find the player’s wallet. Sends nothing.
   */
  playerRef(): string | undefined;
  /** Returns the last known balance of this type, or 0 if it is not known. Sends nothing. */
  balance(type: string): number;
  /**
   * Returns when this device last read the wallet, by its own clock, or undefined if that is not known. Until it reads
   * the wallet again, balances and timed rewards are those of that time.
   */
  readAt(): Date | undefined;
  /** Returns when the player’s reward of this type ends, or undefined if the player has none. Sends nothing. */
  activeUntil(type: string): Date | undefined;
  /**
   * Spends from a balance. The service charges the player once, even if its answer is lost or the page is closed. Hand
   * out what was bought in the `spend` event, which is repeated until its handler succeeds, also after a crash.
   *
   * @param amount - A whole number from 1 to 2^53 - 1.
   */
  spend(type: string, amount: number, options?: SpendOptions): Promise<SpendResult>;
  /** Makes a code, such as `K7QF-2M9X`, with which another device gets this guest player and the wallet. */
  createLinkCode(): Promise<LinkCodeResult>;
  /**
   * Uses a code from another device. This device then has the other one’s guest player.
   *
   * @param options - `replace`: whether to go on although this device’s own player has something in the wallet.
   */
  link(code: string, options?: { replace?: boolean }): Promise<LinkResult>;
}

/** The events that the wallet handles. */
interface WalletListeners {
  change: () => void;
  reward: (reward: EarnedReward) => void | Promise<void>;
  spend: SpendHandler;
}

export interface WalletDeps {
  /** The name of the game’s storage. */
  name: string;
  clock: Clock;
  random: () => number;
  newId: () => string;
  connectivity: Connectivity;
  lifecycle: PageLifecycle;
  client: ServiceClient;
  player: Pick<PlayerContext, 'current' | 'player' | 'onChange'>;
  events: Pick<Emitter<WalletListeners>, 'on' | 'call' | 'hasListeners'>;
  ledger: Pick<Ledger, 'cached'>;
  /** Moves a guest’s undelivered rewards to the current player. */
  moveRewards(from: string): void;
  /** Switches to another player. */
  setUser(user: UserOptions): void;
  onChange(): void;
  /** Called when what the player has for a time has changed, so that ads requested before may not be for the player. */
  onEntitled(): void;
  /** Calls `callback` in the engine’s next frame. Returns a function that cancels the call. */
  deliver(callback: () => void): () => void;
  /** Ends when the ads are destroyed. */
  signal: AbortSignal;
}

/** The headers that prove who the player is, or why they are not known. */
export type Proof = { headers: Record<string, string>; ref: string } | WalletFailure;
