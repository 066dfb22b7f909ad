import type { EarnedReward, Reason } from '../outcome.ts';
import type { PlayerContext } from '../player-context.ts';
import type { UserOptions } from '../options.ts';
import type { Ledger } from '../reward/ledger.ts';
import type { Clock } from '../platform/clock.ts';
import type { Emitter } from '../platform/emitter.ts';
import { linkSignals } from '../platform/clock.ts';
import { listen } from '../platform/native.ts';
import type { Connectivity, PageLifecycle } from '../platform/page.ts';
import { type ServiceClient, hasShape, toReasonCode } from '../transport/service-client.ts';
import type { Wallet as WireWallet } from '../../protocol/wire.ts';
import { createDeviceStore } from './device-store.ts';
import { createGuest } from './guest.ts';
import { createSpends } from './spends.ts';
import { type Shown, balanceOf, endOf, show, startShown } from './shown.ts';

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

/** Options for one spend. */
export interface SpendOptions {
  /** What the player buys, for your reports: up to 64 characters. */
  reason?: string;
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
  /** Returns the last known balance of this type, or 0 if it is not known. Sends nothing. */
  balance(type: string): number;
  /** Returns when the player’s reward of this type ends, or undefined if the player has none. Sends nothing. */
  activeUntil(type: string): Date | undefined;
  /**
   * Spends from a balance. The service charges the player once, even if its answer is lost or the page is closed. Hand
   * out what was bought in the `spend` event, which is repeated until its handler succeeds, also after a crash.
   *
   * @param amount - A whole number from 1 to 2^53 - 1.
   */
  spend(type: string, amount: number, options?: SpendOptions): Promise<SpendResult>;
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
  /** Switches to another player. */
  setUser(user: UserOptions): void;
  onChange(): void;
  /** Calls `callback` in the engine’s next frame. Returns a function that cancels the call. */
  deliver(callback: () => void): () => void;
  /** Ends when the ads are destroyed. */
  signal: AbortSignal;
}

/** The headers that prove who the player is, or why they are not known. */
export type Proof = { headers: Record<string, string>; ref: string } | WalletFailure;

const isWallet = (body: unknown): body is WireWallet =>
  hasShape(body, { balances: {}, entitlements: [], version: 0, now: '' });

/** Opens the wallet. Also makes the device’s guest player, for games that have no ids for their players. */
export function openWallet(deps: WalletDeps): Wallet & {
  /** Makes a guest player, because the service requires a player. Never rejects. */
  identify(): Promise<void>;
} {
  const { client, clock, connectivity, events, ledger, lifecycle, player, signal } = deps;
  const store = createDeviceStore(deps);
  const guest = createGuest({ ...deps, store });
  let shown: Shown = startShown('');

  const currentRef = (): string => player.player().ref ?? '';
  const getShown = (): Shown => (shown.ref === currentRef() ? shown : startShown(''));
  const setShown = async (next: Shown): Promise<void> => {
    shown = next;
    deps.onChange();
    await store.writeWallet(next);
  };
  /** Shows what this device last read for the player. */
  const restore = async (): Promise<void> => {
    const ref = currentRef();
    const stored = await store.readWallet(ref);
    if (ref !== currentRef() || (stored?.version ?? -1) <= getShown().version) return;
    shown = stored ?? startShown(ref);
    deps.onChange();
  };

  const prove = async (): Promise<Proof> => {
    if (player.current().user.childDirected)
      return { outcome: 'unavailable', reason: 'child_directed' };
    if (!currentRef()) await guest.restore();
    const { userRef, userToken } = player.current().user;
    if (userToken === undefined)
      return { outcome: 'unavailable', reason: userRef ? 'identity_required' : 'player_required' };
    try {
      const token = typeof userToken === 'function' ? await userToken() : userToken;
      return { headers: { 'player-token': token }, ref: currentRef() };
    } catch (error) {
      return { outcome: 'error', reason: 'user_token_failed', detail: String(error) };
    }
  };

  const read = async (): Promise<ReadResult> => {
    const proof = await prove();
    if (!('headers' in proof)) return proof;
    const { headers, ref } = proof;
    const response = await client.call('/v1/wallet', isWallet, { headers, signal });
    if (response.kind !== 'ok') {
      const reason = toReasonCode(response) as Reason;
      return { outcome: response.kind === 'refused' ? 'unavailable' : 'offline', reason };
    }
    // A slower, older answer must not replace a newer one.
    if (ref === currentRef() && response.body.version >= getShown().version)
      await setShown(show(ref, response.body, clock.now()));
    return { outcome: 'read' };
  };
  const refresh: Wallet['refresh'] = async () => {
    const result = await read();
    spends.wake();
    return result;
  };

  const spends = createSpends({
    ...deps,
    store,
    prove,
    onCharged(ref, { type, balance, version }) {
      const before = getShown();
      if (ref !== currentRef() || version <= before.version) return;
      void setShown({ ...before, ref, version, balances: { ...before.balances, [type]: balance } });
      // Something else has changed too.
      if (version > before.version + 1) void read();
    },
  });

  /** The number of rewards that this device knows to be credited. */
  let credited = 0;
  const countCredited = (): number =>
    ledger.cached().filter(({ state, reward }) => state === 'earned' && reward.credit === 'wallet')
      .length;
  const checkRewards = (): void => {
    const count = countCredited();
    if (count > credited) void read();
    credited = count;
  };
  credited = countCredited();

  const ending = linkSignals(signal);
  const disposers = [
    events.on('change', checkRewards),
    connectivity.onOnline(spends.hurry),
    lifecycle.onTransition((transition) => {
      if (transition === 'visible' || transition === 'returned') void refresh();
    }),
    player.onChange(() => void restore().then(spends.wake)),
  ];
  listen(ending.signal, 'abort', () => {
    for (const dispose of disposers) dispose();
    spends.stop();
    store.close();
  });
  if (signal.aborted) ending.abort();
  void guest.restore().then(restore).then(spends.wake);

  return {
    refresh,
    balance: (type) => balanceOf(getShown(), type),
    activeUntil: (type) => endOf(getShown(), type, clock.now()),
    spend: spends.spend,
    identify: guest.identify,
  };
}
