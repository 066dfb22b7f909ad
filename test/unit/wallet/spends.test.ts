import { expect, test, vi } from 'vitest';
import type { AdsListeners } from '../../../src/ads.ts';
import { createEmitter } from '../../../src/platform/emitter.ts';
import type { Call, Guard, ServiceResult } from '../../../src/transport/service-client.ts';
import type { SpendRecord } from '../../../src/wallet/device-store.ts';
import { createSpends } from '../../../src/wallet/spends.ts';
import type { Proof } from '../../../src/wallet/wallet.ts';
import { createManualClock, runPendingWork } from '../../support/manual-clock.ts';
import { createTestNetwork, createTestPage } from '../../support/ports.ts';

type Answer = ServiceResult<unknown>;

const known: Proof = { headers: { 'player-token': 'ply.1.2' }, ref: 'ply_1' };
const lost: Answer = { kind: 'unreachable', cause: 'network' };
const refused = (code: string): Answer => ({
  kind: 'refused',
  problem: { code } as Extract<Answer, { kind: 'refused' }>['problem'],
});

/** What the device has stored, and what the service has charged. Both outlive a page. */
const createDevice = () => ({
  stored: new Map<string, SpendRecord>(),
  charged: new Map<string, { type: string; amount: number }>(),
});

/** Opens a page of a player. The service charges a spend once, and answers as the test says. */
function openPage({ stored, charged } = createDevice(), proof: Proof = known) {
  const clock = createManualClock();
  const network = { ...createTestNetwork(), isOffline: false, isOnline: () => !network.isOffline };
  const ending = new AbortController();
  const store = {
    isFailing: false,
    async writeSpend(record: SpendRecord) {
      if (store.isFailing) throw new Error('The device is full.');
      stored.set(record.id, record);
    },
    removeSpend: async ({ id }: SpendRecord) => void stored.delete(id),
    readSpends: async () => [...stored.values()],
    readGuest: async () => undefined,
    writeGuest: async () => {},
    moveGuest: async () => {},
    removeTransfer: async () => {},
    readTransfers: async () => [],
    readWallet: async () => undefined,
    writeWallet: async () => {},
    close: () => {},
  };
  const answers: Answer[] = [];
  const events = createEmitter<AdsListeners>();
  const bought: string[] = [];
  const requests: string[] = [];
  const details: object[] = [];
  events.on('spend', ({ id, type, amount }) => {
    bought.push(id);
    details.push({ id, type, amount });
  });
  let ids = 0;
  const spends = createSpends({
    name: 'game',
    clock,
    random: () => 1,
    newId: () => `spend-${(ids += 1)}`,
    connectivity: network,
    lifecycle: createTestPage(),
    client: {
      async call<T>(_path: string, _guard: Guard<T>, { body }: Call) {
        const { id, type, amount } = body as { id: string; type: string; amount: number };
        const answer = answers.shift();
        requests.push(id);
        // A lost answer was an answer: the service has charged the player.
        if (answer?.kind !== 'refused' && !charged.has(id)) charged.set(id, { type, amount });
        const spent = { id, ...charged.get(id), balance: 15, version: 2 };
        return (answer ?? { kind: 'ok', body: spent }) as ServiceResult<T>;
      },
    },
    player: {
      current: () => ({ user: {} }) as never,
      player: () => ({ ref: 'ply_1' }) as never,
      onChange: () => () => {},
    },
    events,
    ledger: { cached: () => [] },
    setUser: () => {},
    onChange: () => {},
    onEntitled: () => {},
    moveRewards: () => {},
    deliver(callback) {
      callback();
      return () => {};
    },
    signal: ending.signal,
    store,
    prove: async () => proof,
    onCharged: (_ref, { balance }) => balance,
  });
  const crash = (): void => {
    ending.abort();
    spends.stop();
  };
  return {
    answers,
    bought,
    charged,
    clock,
    crash,
    details,
    network,
    requests,
    spends,
    store,
    stored,
  };
}

test.each(['player_unknown', 'token_invalid', 'key_unknown', 'rate_limited'])(
  'a spend whose answer was lost is delivered, even if its repeats are refused with %s for a while',
  async (code) => {
    const { answers, bought, charged, clock, spends, stored } = openPage();
    answers.push(lost, refused(code), refused(code));
    expect(await spends.spend('coins', 10)).toMatchObject({ outcome: 'pending' });
    await clock.advance(60_000);
    expect(answers).toEqual([]);
    await runPendingWork();
    expect(bought).toEqual([...charged.keys()]);
    expect([bought.length, stored.size]).toEqual([1, 0]);
    expect(clock.timers()).toBe(0);
  },
);

test.each([
  ['insufficient_balance', 'insufficient'],
  ['player_unknown', 'unavailable'],
  ['invalid_request', 'error'],
])(
  'a spend that is refused with %s at once is not charged, and not repeated',
  async (code, outcome) => {
    const { answers, bought, clock, spends, stored } = openPage();
    answers.push(refused(code));
    expect(await spends.spend('coins', 10)).toMatchObject({ outcome });
    await clock.advance(600_000);
    expect([bought, stored.size, clock.timers()]).toEqual([[], 0, 0]);
  },
);

test('a repeat that the service refuses as a spend ends it', async () => {
  const { answers, bought, clock, spends, stored } = openPage();
  answers.push(lost, refused('insufficient_balance'));
  await spends.spend('coins', 10);
  await clock.advance(60_000);
  expect([bought, stored.size, clock.timers()]).toEqual([[], 0, 0]);
});

test('a spend that the device can’t store is not sent', async () => {
  const { charged, spends, store } = openPage();
  store.isFailing = true;
  expect(await spends.spend('coins', 10)).toMatchObject({
    outcome: 'unavailable',
    reason: 'storage_failed',
  });
  expect(charged.size).toBe(0);
  store.isFailing = false;
  expect(await spends.spend('coins', 10)).toMatchObject({ outcome: 'spent', balance: 15 });
});

test('a purchase with an id of its own is charged once, whatever happens to its pages', async () => {
  const device = createDevice();
  const buy = (page: ReturnType<typeof openPage>, amount = 10) =>
    page.spends.spend('coins', amount, { id: 'red-hat' });
  const first = openPage(device);
  first.answers.push(lost);
  // An impatient player: both presses are one request.
  expect(await Promise.all([buy(first), buy(first)])).toEqual([
    { outcome: 'pending', id: 'red-hat', reason: 'network' },
    { outcome: 'pending', id: 'red-hat', reason: 'network' },
  ]);
  expect(first.requests).toEqual(['red-hat']);
  first.crash();

  // The next page has nothing in the game's own save, so the shop sells it again.
  const second = openPage(device);
  second.answers.push(refused('player_unknown'));
  expect(await buy(second)).toMatchObject({ outcome: 'pending' });
  second.network.isOffline = true;
  expect(await buy(second)).toMatchObject({ outcome: 'pending', reason: 'network' });
  second.crash();

  const third = openPage(device);
  expect(await buy(third)).toMatchObject({ outcome: 'spent', id: 'red-hat' });
  await runPendingWork();
  expect(third.bought).toEqual(['red-hat']);
  const paid = [['red-hat', { type: 'coins', amount: 10 }]];
  expect([[...device.charged], device.stored.size]).toEqual([paid, 0]);

  // Another device, or one that has lost its save, gets it again for nothing.
  const other = openPage({ ...createDevice(), charged: device.charged });
  expect(await buy(other)).toMatchObject({ outcome: 'spent' });
  await runPendingWork();
  expect(other.bought).toEqual(['red-hat']);
  expect([...device.charged]).toEqual(paid);
});

test.each([
  ['costs more', 'coins', 20],
  ['costs less', 'coins', 3],
  ['is sold for something else', 'gems', 10],
] as const)('what was bought stays bought when it %s', async (_change, type, amount) => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  const device = createDevice();
  const paid = { type: 'coins', amount: 10 };
  const first = openPage(device);
  first.answers.push(lost);
  expect(await first.spends.spend('coins', 10, { id: 'red-hat' })).toMatchObject({
    outcome: 'pending',
  });
  first.crash();
  const buyNow = async (page: ReturnType<typeof openPage>) => {
    expect(await page.spends.spend(type, amount, { id: 'red-hat' })).toMatchObject({
      outcome: 'spent',
    });
    await runPendingWork();
    expect(page.details).toEqual([{ id: 'red-hat', ...paid }]);
  };
  // The game has been updated, and the device has not got the answer yet.
  await buyNow(openPage(device));
  // Another device, or one that has lost its save.
  await buyNow(openPage({ ...createDevice(), charged: device.charged }));
  expect([...device.charged]).toEqual([['red-hat', paid]]);
  warn.mockRestore();
});

test('before the first ad, the player has nothing', async () => {
  const spend = (reason: 'player_required' | 'child_directed') => {
    const { spends } = openPage(createDevice(), { outcome: 'unavailable', reason });
    return spends.spend('coins', 10, { id: 'red-hat' });
  };
  expect(await spend('player_required')).toEqual({
    outcome: 'insufficient',
    id: 'red-hat',
    balance: 0,
  });
  expect(await spend('child_directed')).toMatchObject({ outcome: 'unavailable' });
});

test.each(['', 'a b', 'x'.repeat(65), 7, 'dec_1'])('the id %j is refused', async (id) => {
  const { requests, spends } = openPage();
  expect(await spends.spend('coins', 10, { id: id as string })).toMatchObject({
    outcome: 'error',
    reason: 'option_invalid',
    detail: expect.stringContaining('`id` must be') as string,
  });
  expect(requests).toEqual([]);
});

test.each<[option: string, longest: unknown, mistakes: unknown[]]>([
  ['type', 'x'.repeat(64), ['', 'x'.repeat(65), 7, undefined]],
  ['amount', Number.MAX_SAFE_INTEGER, [0, -1, 1.5, Number.MAX_SAFE_INTEGER + 1, '1']],
  ['reason', 'x'.repeat(64), ['', 'x'.repeat(65), 7, null]],
  ['id', 'x'.repeat(64), ['x'.repeat(65)]],
])('%s is accepted up to its limit, and refused beyond it', async (option, longest, mistakes) => {
  const { requests, spends } = openPage();
  const spend = (value: unknown) => {
    const { type, amount, ...options } = { type: 'coins', amount: 1, [option]: value };
    return spends.spend(type as string, amount as number, options as object);
  };
  for (const mistake of mistakes)
    expect(await spend(mistake), JSON.stringify(mistake)).toMatchObject({
      outcome: 'error',
      reason: 'option_invalid',
      detail: expect.stringContaining(`\`${option}\` must be`) as string,
    });
  expect(requests).toEqual([]);
  expect(await spend(longest)).toMatchObject({ outcome: 'spent' });
});
