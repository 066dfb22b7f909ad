import type { Reason } from '../outcome.ts';
import { linkSignals } from '../platform/clock.ts';
import { has, toText } from '../platform/guard.ts';
import { loadPart } from '../platform/load-part.ts';
import { listen } from '../platform/native.ts';
import { isGuestRef } from '../player-context.ts';
import { getUserToken } from '../user-token.ts';
import { type ServiceResult, hasShape, toReasonCode } from '../transport/service-client.ts';
import type { LinkCode, Wallet as WireWallet } from '../../protocol/wire.ts';
import { createDeviceStore } from './device-store.ts';
import { createGuest } from './guest.ts';
import { createSpends } from './spends.ts';
import type { Transfers } from './transfers.ts';
import { type Shown, balanceOf, endOf, isEmpty, readAt, show, startShown } from './shown.ts';
import type { Proof, ReadResult, Wallet, WalletDeps, WalletFailure } from './wallet.ts';

const isWallet = (body: unknown): body is WireWallet =>
  hasShape(body, { balances: {}, entitlements: [], version: 0, now: '' });

const isLinkCode = (body: unknown): body is LinkCode =>
  hasShape(body, { code: '', expires_at: '' });

const describeFailure = (
  response: Exclude<ServiceResult<unknown>, { kind: 'ok' }>,
): WalletFailure => ({
  outcome: response.kind === 'refused' ? 'unavailable' : 'offline',
  reason: toReasonCode(response) as Reason,
});

/** How long the game’s `userToken` function may take, in milliseconds. */
const tokenTimeoutMs = 10_000;

/** How often the token is asked for while the game names one player after the other. */
const maxTokens = 3;

/** Whether a request can carry the text. The browser refuses to send any other, as if the device were offline. */
const isHeaderValue = (text: string): boolean => /^[!-~]+$/.test(text);
const noToken =
  'the `userToken` function must return a token from `signUserToken()`; got a text that can’t be one.';

/** Opens the wallet. Also makes the device’s guest player, for games that have no ids for their players. */
export function openWallet(deps: WalletDeps): Wallet & {
  /** Makes a guest player, because the service requires a player. Never rejects. */
  identify(): Promise<void>;
  /** Moves the wallet of the device’s guest to a player who has signed in. Never rejects. */
  transfer: Transfers['begin'];
} {
  const { client, clock, connectivity, events, ledger, lifecycle, player, signal } = deps;
  const store = createDeviceStore(deps);
  const guest = createGuest({ ...deps, store });
  let shown: Shown = startShown('');

  const currentRef = (): string => player.player().ref ?? '';
  const getShown = (): Shown => (shown.ref === currentRef() ? shown : startShown(''));
  const setShown = async (next: Shown): Promise<void> => {
    const isEntitled = String(Object.entries(next.ends)) !== String(Object.entries(shown.ends));
    shown = next;
    if (isEntitled) deps.onEntitled();
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

  const prove = async (tokensLeft = maxTokens): Promise<Proof> => {
    if (player.current().user.childDirected)
      return { outcome: 'unavailable', reason: 'child_directed' };
    if (!currentRef()) await guest.restore();
    const { userRef, userToken: source } = player.current().user;
    const result = await getUserToken(source, { clock, timeoutMs: tokenTimeoutMs, signal });
    // The game has named a player in the meantime. The token may be another one's.
    const { user: now } = player.current();
    if (now.userRef !== userRef || now.userToken !== source)
      return tokensLeft > 1
        ? prove(tokensLeft - 1)
        : { outcome: 'unavailable', reason: 'player_changed' };
    if (has(result, 'userToken')) {
      const { userToken } = result;
      if (userToken !== undefined)
        return isHeaderValue(userToken)
          ? { headers: { 'player-token': userToken }, ref: currentRef() }
          : { outcome: 'error', reason: 'user_token_failed', detail: noToken };
      const reason = userRef ? 'identity_required' : 'player_required';
      return { outcome: 'unavailable', reason };
    }
    if (result.outcome === 'error') return result;
    return result.outcome === 'aborted'
      ? { outcome: 'unavailable', reason: 'destroyed' }
      : {
          outcome: 'error',
          reason: 'user_token_failed',
          detail: `\`userToken\` returned no token within ${tokenTimeoutMs / 1_000} seconds.`,
        };
  };

  const read = async (): Promise<ReadResult> => {
    const proof = await prove();
    if (!has(proof, 'headers')) return proof;
    const { headers, ref } = proof;
    const response = await client.call('/v1/wallet', isWallet, { headers, signal });
    if (response.kind !== 'ok') return describeFailure(response);
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
      if (ref !== currentRef()) return balance;
      // The answer for a spend of long ago.
      if (version <= before.version) return balanceOf(before, type);
      void setShown({ ...before, ref, version, balances: { ...before.balances, [type]: balance } });
      // Something else has changed too.
      if (version > before.version + 1) void read();
      return balance;
    },
  });

  let transfers: Promise<Transfers> | undefined;
  /** Most players never sign in, so the code that moves wallets is loaded when one does. */
  const loadTransfers = (): Promise<Transfers> =>
    (transfers ??= loadPart(() => import('./transfers.ts'), 'createTransfers', deps).then(
      (createTransfers) =>
        createTransfers({
          ...deps,
          store,
          isWallet,
          prove,
          onMoved(ref, wallet) {
            if (ref === currentRef() && wallet.version >= getShown().version)
              void setShown(show(ref, wallet, clock.now()));
          },
        }),
    ));
  const withTransfers = async (use: (loaded: Transfers) => unknown): Promise<void> => {
    await use(await loadTransfers());
  };
  /** Goes on with the transfers that this device has stored. */
  const goOn = async (use: (loaded: Transfers) => unknown): Promise<void> => {
    if ((await store.readTransfers()).length > 0) await withTransfers(use).catch(() => undefined);
  };
  const wakeTransfers = (): void => void goOn((loaded) => loaded.wake());

  /** The number of rewards that this device knows to be credited. */
  let credited = 0;
  const countCredited = (): number =>
    ledger.cached().filter(({ state, reward }) => state === 'earned' && reward.credit === 'wallet')
      .length;
  const checkRewards = (): void => {
    const count = countCredited();
    if (count > credited) void read().then(wakeTransfers);
    credited = count;
  };
  credited = countCredited();

  const wake = (): void => {
    spends.wake();
    wakeTransfers();
  };
  const ending = linkSignals(signal);
  const disposers = [
    events.on('change', checkRewards),
    connectivity.onOnline(() => {
      spends.hurry();
      void goOn((loaded) => loaded.hurry());
    }),
    lifecycle.onTransition((transition) => {
      if (transition === 'visible' || transition === 'returned') void refresh();
    }),
    player.onChange(() => void restore().then(wake)),
  ];
  listen(ending.signal, 'abort', () => {
    for (const dispose of disposers) dispose();
    spends.stop();
    void transfers?.then((loaded) => loaded.stop()).catch(() => undefined);
    store.close();
  });
  if (signal.aborted) ending.abort();
  void guest.restore().then(restore).then(wake);

  return {
    refresh,
    playerRef: () => (player.current().user.childDirected ? undefined : currentRef() || undefined),
    balance: (type) => balanceOf(getShown(), type),
    readAt: () => readAt(getShown()),
    activeUntil: (type) => endOf(getShown(), type, clock.now()),
    spend: spends.spend,
    async createLinkCode() {
      const proof = await prove();
      if (!has(proof, 'headers')) return proof;
      const call = { body: {}, headers: proof.headers, signal };
      const response = await client.call('/v1/players/link-codes', isLinkCode, call);
      if (response.kind !== 'ok') return describeFailure(response);
      const { code, expires_at: end } = response.body;
      return { outcome: 'created', code, expiresAt: new Date(end) };
    },
    async link(code, options) {
      const { childDirected, userRef } = player.current().user;
      if (childDirected) return { outcome: 'unavailable', reason: 'child_directed' };
      await guest.restore();
      const ref = currentRef();
      if (userRef !== undefined || (ref && !isGuestRef(ref)))
        return { outcome: 'unavailable', reason: 'identity_required' };
      if (ref && !options?.replace) {
        const result = await read();
        // A player whom the service has forgotten has nothing to lose.
        if (result.outcome !== 'read' && result.reason !== 'player_unknown') return result;
        if (result.outcome === 'read' && !isEmpty(getShown(), clock.now()))
          return { outcome: 'not_empty' };
      }
      const result = await guest.link(toText(code));
      if (result.outcome === 'linked') await refresh();
      return result;
    },
    identify: guest.identify,
    transfer: (target) => withTransfers((loaded) => loaded.begin(target)).catch(() => undefined),
  };
}
