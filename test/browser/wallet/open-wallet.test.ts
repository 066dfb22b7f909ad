import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { AdsListeners } from '../../../src/ads.ts';
import type { UserOptions } from '../../../src/options.ts';
import { createEmitter } from '../../../src/platform/emitter.ts';
import type { Call, Guard, ServiceResult } from '../../../src/transport/service-client.ts';
import { openWallet } from '../../../src/wallet/open-wallet.ts';
import { createDeferred } from '../../support/deferred.ts';
import { eventually } from '../../support/eventually.ts';
import { createManualClock, runPendingWork } from '../../support/manual-clock.ts';
import { createTestNetwork, createTestPage } from '../../support/ports.ts';

// The wallet on a page with a real IndexedDB. The test is its service, its game and its clock.

type Answer = ServiceResult<unknown>;
const lost: Answer = { kind: 'unreachable', cause: 'network' };
const refused = (code: string): Answer => ({
  kind: 'refused',
  problem: { code } as Extract<Answer, { kind: 'refused' }>['problem'],
});
const wallet = (coins: number, version: number, entitlements: object[] = []): Answer => ({
  kind: 'ok',
  body: {
    balances: { coins },
    entitlements,
    version,
    now: new Date(page.clock.now()).toISOString(),
  },
});

const charged = (balance: number, version: number): Answer => ({
  kind: 'ok',
  body: { id: 'spend-1', type: 'coins', amount: 2, balance, version },
});

/** A player, and whether the game is directed at children. */
type Player = UserOptions & { childDirected?: boolean };

let games = 0;
function openPage(user: Player = { userRef: 'ann', userToken: 'ann-token' }) {
  const clock = createManualClock();
  const network = createTestNetwork();
  const lifecycle = createTestPage();
  const events = createEmitter<AdsListeners>();
  const ending = new AbortController();
  const answers: Record<string, Answer> = {};
  const requests: string[] = [];
  const playerChanges = new Set<() => void>();
  const state = { user, ref: user.userRef, rewards: [] as object[] };
  const onChange = vi.fn();
  const onEntitled = vi.fn();
  const player = {
    current: () => ({ user: state.user }) as never,
    player: () => ({ ref: state.ref }) as never,
    onChange(listener: () => void) {
      playerChanges.add(listener);
      return () => playerChanges.delete(listener);
    },
  };
  const opened = openWallet({
    name: `wallet-${(games += 1)}`,
    clock,
    random: () => 1,
    newId: () => 'spend-1',
    connectivity: network,
    lifecycle,
    client: {
      async call<T>(path: string, _guard: Guard<T>, { headers }: Call) {
        requests.push(`${path} ${headers?.['player-token'] ?? ''}`.trim());
        return (answers[path] ?? lost) as ServiceResult<T>;
      },
    },
    player,
    events,
    ledger: { cached: () => state.rewards as never },
    moveRewards: () => {},
    setUser(next) {
      state.user = next;
      state.ref = /^ply_\d/.exec(String(next.userToken))?.[0];
      for (const changed of playerChanges) changed();
    },
    onChange,
    onEntitled,
    deliver(callback) {
      callback();
      return () => {};
    },
    signal: ending.signal,
  });
  /** Another player signs in. */
  const become = (ref: string): void => {
    state.user = { userRef: ref, userToken: `${ref}-token` };
    state.ref = ref;
    for (const changed of playerChanges) changed();
  };
  return {
    answers,
    become,
    clock,
    ending,
    events,
    lifecycle,
    network,
    onChange,
    onEntitled,
    player,
    requests,
    state,
    wallet: opened,
  };
}

let page: ReturnType<typeof openPage>;
beforeEach(() => {
  page = openPage();
});
afterEach(() => page.ending.abort());

it('shows what was read last, and no older answer', async () => {
  page.answers['/v1/wallet'] = wallet(5, 2);
  expect(await page.wallet.refresh()).toEqual({ outcome: 'read' });
  expect(page.wallet.balance('coins')).toBe(5);
  expect(page.wallet.readAt()?.getTime()).toBe(page.clock.now());
  page.answers['/v1/wallet'] = wallet(9, 1);
  expect(await page.wallet.refresh()).toEqual({ outcome: 'read' });
  expect(page.wallet.balance('coins')).toBe(5);
});

it.each<[string, Answer, object]>([
  ['can’t be reached', lost, { outcome: 'offline', reason: 'network' }],
  [
    'knows no such player',
    refused('player_unknown'),
    { outcome: 'unavailable', reason: 'player_unknown' },
  ],
])('keeps what it shows if the service %s', async (_case, answer, result) => {
  page.answers['/v1/wallet'] = wallet(5, 2);
  await page.wallet.refresh();
  page.answers['/v1/wallet'] = answer;
  expect(await page.wallet.refresh()).toEqual(result);
  expect(page.wallet.balance('coins')).toBe(5);
});

it('says why it doesn’t know the player', async () => {
  page.state.user = { userRef: 'ann' };
  expect(await page.wallet.refresh()).toEqual({
    outcome: 'unavailable',
    reason: 'identity_required',
  });
  page.state.user = { userRef: 'ann', userToken: () => Promise.reject(new Error('No token.')) };
  expect(await page.wallet.refresh()).toMatchObject({
    outcome: 'error',
    reason: 'user_token_failed',
  });
  page.state.user = { userRef: 'ann', childDirected: true };
  expect(await page.wallet.refresh()).toEqual({ outcome: 'unavailable', reason: 'child_directed' });
  expect(page.wallet.playerRef()).toBeUndefined();
  expect(page.requests).toEqual([]);
});

it('reads again whenever the player returns to the page, not when the player leaves', async () => {
  page.answers['/v1/wallet'] = wallet(5, 2);
  page.lifecycle.emit('hidden');
  await runPendingWork();
  expect(page.requests).toEqual([]);
  page.lifecycle.emit('visible');
  page.lifecycle.emit('returned');
  await eventually(() => expect(page.requests).toHaveLength(2));
});

it('reads again when a reward has been credited to it', async () => {
  page.answers['/v1/wallet'] = wallet(5, 2);
  const inWallet = { state: 'earned', reward: { credit: 'wallet' } };
  for (const rewards of [
    [],
    [{ state: 'pending', reward: { credit: 'wallet' } }],
    [{ state: 'earned', reward: {} }],
  ]) {
    page.state.rewards = rewards;
    page.events.emit('change');
  }
  await runPendingWork();
  expect(page.requests).toEqual([]);
  page.state.rewards = [inWallet];
  page.events.emit('change');
  page.events.emit('change');
  await eventually(() => expect(page.wallet.balance('coins')).toBe(5));
  expect(page.requests).toEqual(['/v1/wallet ann-token']);
});

it('each player sees their own wallet, as this device last read it', async () => {
  page.answers['/v1/wallet'] = wallet(5, 2);
  await page.wallet.refresh();
  page.become('bob');
  expect(page.wallet.balance('coins')).toBe(0);
  page.answers['/v1/wallet'] = wallet(7, 1);
  await page.wallet.refresh();
  expect(page.wallet.balance('coins')).toBe(7);
  page.become('ann');
  await eventually(() => expect(page.wallet.balance('coins')).toBe(5));
});

it('an answer for the player before shows nobody anything', async () => {
  page.answers['/v1/wallet'] = wallet(5, 2);
  const reading = page.wallet.refresh();
  await runPendingWork();
  page.state.ref = 'bob';
  await reading;
  expect(page.wallet.balance('coins')).toBe(0);
});

/** Ann plays, and her token takes its time. Meanwhile, somebody else becomes the player. */
function becomeDuringToken(next: UserOptions) {
  const token = createDeferred<string>();
  page.state.user = { userRef: 'ann', userToken: () => token.promise };
  return () => {
    page.state.user = next;
    page.state.ref = next.userRef ?? '';
    token.resolve('ann-token');
  };
}
const nextPlayers: [string, UserOptions][] = [
  ['another player', { userRef: 'bob', userToken: 'bob-token' }],
  ['nobody', {}],
];

it.each(nextPlayers)(
  'a token that arrives late doesn’t show its wallet to %s',
  async (_who, next) => {
    const become = becomeDuringToken(next);
    page.answers['/v1/wallet'] = wallet(5, 2);
    const reading = page.wallet.refresh();
    await runPendingWork();
    become();
    await reading;
    expect(page.requests).toEqual(next.userToken ? ['/v1/wallet bob-token'] : []);
  },
);

it.each(nextPlayers)(
  'a spend ends without a charge if it would be paid by %s',
  async (_who, next) => {
    const become = becomeDuringToken(next);
    page.answers['/v1/wallet/spends'] = charged(3, 3);
    const spending = page.wallet.spend('coins', 2);
    await runPendingWork();
    become();
    expect(await spending).toMatchObject(
      next.userToken
        ? { outcome: 'unavailable', reason: 'player_changed' }
        : { outcome: 'insufficient' },
    );
    expect(page.requests).toEqual([]);
  },
);

it.each<[string, (call: number) => string, object]>([
  ['the same player each time', () => 'ann', { outcome: 'spent' }],
  [
    'another player each time',
    (call) => `player-${call}`,
    { outcome: 'unavailable', reason: 'player_changed' },
  ],
])('a token function may name %s, and is called three times at most', async (_, next, result) => {
  let calls = 0;
  const userToken = async (): Promise<string> => {
    calls += 1;
    await Promise.resolve();
    page.state.ref = next(calls);
    page.state.user = { userRef: page.state.ref, userToken };
    return 'token';
  };
  page.state.ref = 'ann';
  page.state.user = { userRef: 'ann', userToken };
  page.answers['/v1/wallet/spends'] = charged(3, 3);
  expect(await page.wallet.spend('coins', 2)).toMatchObject(result);
  expect(calls).toBeLessThanOrEqual(3);
});

it('a spend of a player whom only the token names is charged', async () => {
  const token = createDeferred<string>();
  const player: { ref: string | undefined } = { ref: undefined };
  page.player.player = () => player as never;
  page.state.user = { userToken: () => token.promise };
  page.answers['/v1/wallet/spends'] = charged(3, 3);
  const spending = page.wallet.spend('coins', 2);
  await runPendingWork();
  player.ref = 'ann';
  token.resolve('ann-token');
  expect(await spending).toMatchObject({ outcome: 'spent' });
});

it.each(['', 'two\nlines', 'ann’s', '😀', 'with space'])(
  'the token %j, which no request can carry, is the game’s mistake and no lost connection',
  async (userToken) => {
    page.state.user = { userRef: 'ann', userToken: () => userToken };
    const failure = { outcome: 'error', reason: 'user_token_failed' };
    expect(await page.wallet.refresh()).toMatchObject(failure);
    expect(await page.wallet.spend('coins', 2)).toMatchObject(failure);
    expect(await page.wallet.createLinkCode()).toMatchObject(failure);
    expect(page.requests).toEqual([]);
  },
);

it('tells when what the player has for a time has changed', async () => {
  const end = new Date(page.clock.now() + 60_000).toISOString();
  page.answers['/v1/wallet'] = wallet(5, 2);
  await page.wallet.refresh();
  expect(page.onEntitled).not.toHaveBeenCalled();
  page.answers['/v1/wallet'] = wallet(5, 3, [{ type: 'no-ads', active_until: end }]);
  await page.wallet.refresh();
  await page.wallet.refresh();
  expect(page.onEntitled).toHaveBeenCalledTimes(1);
  expect(page.wallet.activeUntil('no-ads')?.toISOString()).toBe(end);
});

it('a spend’s answer is shown at once, and shows whether anything else has changed', async () => {
  page.answers['/v1/wallet'] = wallet(5, 2);
  await page.wallet.refresh();
  page.answers['/v1/wallet/spends'] = charged(3, 3);
  expect(await page.wallet.spend('coins', 2)).toMatchObject({ outcome: 'spent', balance: 3 });
  expect(page.wallet.balance('coins')).toBe(3);
  await runPendingWork();
  const isRead = (path: string): boolean => path.startsWith('/v1/wallet ');
  expect(page.requests.filter(isRead)).toHaveLength(1);
  // An answer of long ago changes nothing.
  page.answers['/v1/wallet/spends'] = charged(9, 3);
  expect(await page.wallet.spend('coins', 2, { id: 'late' })).toMatchObject({ balance: 3 });
  expect(page.wallet.balance('coins')).toBe(3);
  page.answers['/v1/wallet'] = wallet(8, 6);
  page.answers['/v1/wallet/spends'] = charged(1, 5);
  expect(await page.wallet.spend('coins', 2, { id: 'next' })).toMatchObject({ balance: 1 });
  await eventually(() => expect(page.wallet.balance('coins')).toBe(8));
});

it('repeats a spend without an answer as soon as the device is online, without waiting', async () => {
  const bought = vi.fn();
  page.events.on('spend', bought);
  expect(await page.wallet.spend('coins', 2)).toMatchObject({ outcome: 'pending' });
  page.answers['/v1/wallet/spends'] = charged(3, 3);
  page.lifecycle.emit('visible');
  await runPendingWork();
  expect(bought).not.toHaveBeenCalled();
  page.network.reconnect();
  await eventually(() => expect(bought).toHaveBeenCalledTimes(1));
});

it('a guest’s code is for guests, and a wallet with something in it is not given up', async () => {
  expect(await page.wallet.link('K7QF-2M9X')).toEqual({
    outcome: 'unavailable',
    reason: 'identity_required',
  });
  page.state.user = { childDirected: true };
  expect(await page.wallet.link('K7QF-2M9X')).toMatchObject({ reason: 'child_directed' });

  page.ending.abort();
  page = openPage({ userToken: 'ply_1.token' });
  page.state.ref = 'ply_1';
  page.answers['/v1/players/link'] = {
    kind: 'ok',
    body: { player_ref: 'ply_2', player_token: 'ply_2.token' },
  };
  page.answers['/v1/wallet'] = wallet(5, 2);
  expect(await page.wallet.link('K7QF-2M9X')).toEqual({ outcome: 'not_empty' });
  page.answers['/v1/wallet'] = lost;
  expect(await page.wallet.link('K7QF-2M9X')).toEqual({ outcome: 'offline', reason: 'network' });
  expect(page.wallet.playerRef()).toBe('ply_1');
  page.answers['/v1/wallet'] = refused('player_unknown');
  expect(await page.wallet.link('K7QF-2M9X')).toEqual({ outcome: 'linked' });
  expect(page.wallet.playerRef()).toBe('ply_2');
  page.answers['/v1/wallet'] = wallet(5, 3);
  expect(await page.wallet.link('K7QF-2M9X', { replace: true })).toEqual({ outcome: 'linked' });
});

it('makes a code for another device', async () => {
  expect(await page.wallet.createLinkCode()).toEqual({ outcome: 'offline', reason: 'network' });
  page.answers['/v1/players/link-codes'] = {
    kind: 'ok',
    body: { code: 'K7QF-2M9X', expires_at: '2026-01-01T00:10:00.000Z' },
  };
  expect(await page.wallet.createLinkCode()).toEqual({
    outcome: 'created',
    code: 'K7QF-2M9X',
    expiresAt: new Date('2026-01-01T00:10:00.000Z'),
  });
  expect(page.requests.at(-1)).toBe('/v1/players/link-codes ann-token');
});

it('does nothing after its end', async () => {
  page.answers['/v1/wallet'] = wallet(5, 2);
  page.ending.abort();
  page.lifecycle.emit('visible');
  page.network.reconnect();
  page.become('bob');
  page.state.rewards = [{ state: 'earned', reward: { credit: 'wallet' } }];
  page.events.emit('change');
  await runPendingWork();
  expect(page.requests).toEqual([]);
});
