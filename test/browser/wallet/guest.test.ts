import { expect, it, vi } from 'vitest';
import type { UserOptions } from '../../../src/options.ts';
import type { GuestRecord } from '../../../src/wallet/device-store.ts';
import { createGuest } from '../../../src/wallet/guest.ts';

// A device's guest, with the browser's real locks. The test is the device, the game and the service.

let names = 0;
function openDevice() {
  const name = `guest-${(names += 1)}`;
  let stored: GuestRecord | undefined;
  let made = 0;
  const requests: string[] = [];
  /** Opens a tab with this player. `duringRequest` is what the game does while the service answers. */
  const openTab = (user: UserOptions, duringRequest: () => void = () => {}) => {
    const tab = { user };
    const guest = createGuest({
      name,
      client: {
        async call(path: string) {
          requests.push(path);
          await new Promise((resolve) => setTimeout(resolve, 20));
          duringRequest();
          made += 1;
          return {
            kind: 'ok',
            body: { player_ref: `ply_${made}`, player_token: `token-${made}` },
          } as never;
        },
      },
      player: { current: () => ({ user: tab.user }) as never } as never,
      setUser: (next) => void (tab.user = next),
      signal: new AbortController().signal,
      store: {
        readGuest: async () => stored,
        writeGuest: async (next: GuestRecord) => void (stored = next),
      } as never,
    });
    return Object.assign(tab, { guest });
  };
  return { openTab, requests, stored: () => stored };
}

it('two tabs that need a guest at the same time share one', async () => {
  const device = openDevice();
  const tabs = [device.openTab({}), device.openTab({})];
  await Promise.all(tabs.map(({ guest }) => guest.identify()));
  expect(device.requests).toEqual(['/v1/players']);
  expect(tabs.map(({ user }) => user)).toEqual([
    { userToken: 'token-1' },
    { userToken: 'token-1' },
  ]);
  expect(device.stored()).toEqual({ ref: 'ply_1', token: 'token-1' });
});

it('a tab whose guest is refused uses the guest that another tab has made since', async () => {
  const device = openDevice();
  const [refused, other] = [device.openTab({}), device.openTab({ userToken: 'old' })];
  await refused.guest.identify();
  await other.guest.identify();
  expect(device.requests).toEqual(['/v1/players']);
  expect(other.user).toEqual({ userToken: 'token-1' });
  await other.guest.identify();
  expect(device.requests).toEqual(['/v1/players', '/v1/players']);
  expect(other.user).toEqual({ userToken: 'token-2' });
});

it.each(['identify', 'link'] as const)(
  '%s replaces no player whom the game names meanwhile',
  async (method) => {
    for (const named of [{ userRef: 'ann' }, { userToken: 'ann-token' }, { childDirected: true }]) {
      const device = openDevice();
      const rename = vi.fn(() => void (tab.user = named));
      const tab = device.openTab({}, rename);
      await tab.guest[method]('code-1');
      expect(rename).toHaveBeenCalledOnce();
      expect(tab.user).toBe(named);
    }
  },
);
