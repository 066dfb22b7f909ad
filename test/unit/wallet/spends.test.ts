import { expect, test } from 'vitest';
import type { AdsListeners } from '../../../src/ads.ts';
import { createEmitter } from '../../../src/platform/emitter.ts';
import type { Call, Guard, ServiceResult } from '../../../src/transport/service-client.ts';
import type { SpendRecord } from '../../../src/wallet/device-store.ts';
import { createSpends } from '../../../src/wallet/spends.ts';
import { createManualClock, runPendingWork } from '../../support/manual-clock.ts';
import { createTestNetwork, createTestPage } from '../../support/ports.ts';

type Answer = ServiceResult<unknown>;

const lost: Answer = { kind: 'unreachable', cause: 'network' };
const refused = (code: string): Answer => ({
  kind: 'refused',
  problem: { code } as Extract<Answer, { kind: 'refused' }>['problem'],
});

/** Opens a page of a player. The service charges a spend once, and answers as the test says. */
function openPage() {
  const clock = createManualClock();
  const stored = new Map<string, SpendRecord>();
  const store = {
    isFailing: false,
    async writeSpend(record: SpendRecord) {
      if (store.isFailing) throw new Error('The device is full.');
      stored.set(record.id, record);
    },
    removeSpend: async (id: string) => void stored.delete(id),
    readSpends: async () => [...stored.values()],
    readGuest: async () => undefined,
    writeGuest: async () => {},
    readWallet: async () => undefined,
    writeWallet: async () => {},
    close: () => {},
  };
  const charged = new Set<string>();
  const answers: Answer[] = [];
  const events = createEmitter<AdsListeners>();
  const bought: string[] = [];
  events.on('spend', ({ id }) => void bought.push(id));
  let ids = 0;
  const spends = createSpends({
    name: 'game',
    clock,
    random: () => 1,
    newId: () => `spend-${(ids += 1)}`,
    connectivity: createTestNetwork(),
    lifecycle: createTestPage(),
    client: {
      async call<T>(_path: string, _guard: Guard<T>, { body }: Call) {
        const { id, type, amount } = body as { id: string; type: string; amount: number };
        const answer = answers.shift();
        // A lost answer was an answer: the service has charged the player.
        if (answer?.kind !== 'refused') charged.add(id);
        const spent = { id, type, amount, balance: 15, version: 2 };
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
    deliver(callback) {
      callback();
      return () => {};
    },
    signal: new AbortController().signal,
    store,
    prove: async () => ({ headers: { 'player-token': 'ply.1.2' }, ref: 'ply_1' }),
    onCharged: () => {},
  });
  return { answers, bought, charged, clock, spends, store, stored };
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
    expect(bought).toEqual([...charged]);
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
