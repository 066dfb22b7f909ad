import { linkSignals } from '../platform/clock.ts';
import { browserLocks } from '../platform/locks.ts';
import type { Reason } from '../outcome.ts';
import { type ServiceResult, hasShape, toReasonCode } from '../transport/service-client.ts';
import type { Guest as WireGuest } from '../../protocol/wire.ts';
import type { DeviceStore, GuestRecord } from './device-store.ts';
import type { LinkResult, WalletDeps } from './wallet.ts';

/** The device’s guest player, for games that have no ids for their players. */
export interface Guest {
  /** Switches to the device’s guest, if there is one and the game has named no player. */
  restore(): Promise<void>;
  /** Switches to the device’s guest. Makes one if there is none, or if the service no longer knows it. */
  identify(): Promise<void>;
  /** Uses a code from another device. */
  link(code: string): Promise<LinkResult>;
}

interface Deps extends Pick<WalletDeps, 'name' | 'client' | 'player' | 'setUser' | 'signal'> {
  store: DeviceStore;
}

const isGuest = (body: unknown): body is WireGuest =>
  hasShape(body, { player_ref: '', player_token: '' });

function describeRefusal(response: Exclude<ServiceResult<unknown>, { kind: 'ok' }>): LinkResult {
  const reason = toReasonCode(response) as Reason;
  if (response.kind !== 'refused') return { outcome: 'offline', reason };
  return reason === 'link_code_invalid' || reason === 'invalid_request'
    ? { outcome: 'wrong_code' }
    : { outcome: 'error', reason };
}

export function createGuest({ name, client, player, setUser, signal, store }: Deps): Guest {
  /** Makes the guest the current player, unless the game has named another one by now. */
  const use = ({ token }: GuestRecord, replaced?: unknown): void => {
    const { user } = player.current();
    if (user.childDirected || user.userRef !== undefined || user.userToken !== replaced) return;
    setUser({ ...user, userToken: token });
  };
  const make = async (refused: unknown): Promise<void> => {
    const stored = await store.readGuest();
    if (stored && stored.token !== refused) return use(stored, refused);
    const response = await client.call('/v1/players', isGuest, { body: {}, signal });
    if (response.kind !== 'ok') return undefined;
    const { player_ref: ref, player_token: token } = response.body;
    await store.writeGuest({ ref, token });
    return use({ ref, token }, refused);
  };
  return {
    async link(code) {
      const { user } = player.current();
      const response = await client.call('/v1/players/link', isGuest, { body: { code }, signal });
      if (response.kind !== 'ok') return describeRefusal(response);
      const { player_ref: ref, player_token: token } = response.body;
      // If the device can't store it, this page at least has the player.
      await store.writeGuest({ ref, token }).catch(() => undefined);
      use({ ref, token }, user.userToken);
      return { outcome: 'linked' };
    },
    async restore() {
      const { userRef, userToken } = player.current().user;
      if (userRef !== undefined || userToken !== undefined) return;
      const stored = await store.readGuest().catch(() => undefined);
      if (stored) use(stored);
    },
    async identify() {
      const { userToken: refused } = player.current().user;
      const lock = linkSignals(signal);
      // All of a game’s tabs share one guest.
      await browserLocks()(`${name}:guest`, lock.signal);
      // If the device can’t store the guest, the request for an ad fails, and is tried again with the next one.
      await make(refused).catch(() => undefined);
      lock.abort();
    },
  };
}
