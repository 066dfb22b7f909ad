import { expect, test } from 'vitest';
import type { Player } from '../../../src/player-context.ts';
import type { LedgerEntry } from '../../../src/reward/reward-machine.ts';
import type { Call, Guard, ServiceResult } from '../../../src/transport/service-client.ts';
import type { DeviceStore, GuestRecord, TransferRecord } from '../../../src/wallet/device-store.ts';
import { createTransfers } from '../../../src/wallet/transfers.ts';
import type { Proof } from '../../../src/wallet/wallet.ts';
import { createManualClock, runPendingWork } from '../../support/manual-clock.ts';
import { createTestNetwork, createTestPage } from '../../support/ports.ts';

type Answer = ServiceResult<unknown>;

const lost: Answer = { kind: 'unreachable', cause: 'network' };
const refused = (code: string): Answer => ({
  kind: 'refused',
  problem: { code } as Extract<Answer, { kind: 'refused' }>['problem'],
});
const guest: GuestRecord = { ref: 'ply_1', token: 'ply.1.2' };

/** What outlives a page. */
const createDevice = () => ({
  guest: guest as GuestRecord | undefined,
  moved: [] as TransferRecord[],
});

/** Opens a page on which `player` plays. */
function openPage(player: Player, device = createDevice()) {
  const clock = createManualClock();
  const answers: Answer[] = [];
  const requests: unknown[] = [];
  const rewardsMoved: string[] = [];
  const pending: LedgerEntry[] = [];
  const page = {
    answers,
    clock,
    device,
    pending,
    player,
    /** What proves the player. */
    proof: (): Promise<Proof> =>
      Promise.resolve({ headers: { 'player-token': 'jwt' }, ref: page.player.ref ?? '' }),
    requests,
    rewardsMoved,
  };
  const store: Partial<DeviceStore> = {
    readGuest: async () => device.guest,
    async moveGuest(transfer) {
      device.moved.push(transfer);
      device.guest = undefined;
    },
    async removeTransfer({ token }) {
      device.moved = device.moved.filter((transfer) => transfer.token !== token);
    },
    readTransfers: async () => [...device.moved],
  };
  const transfers = createTransfers({
    clock,
    random: () => 1,
    connectivity: createTestNetwork(),
    lifecycle: createTestPage(),
    client: {
      async call<T>(_path: string, _guard: Guard<T>, { body }: Call) {
        requests.push(body);
        return (answers.shift() ?? { kind: 'ok', body: {} }) as ServiceResult<T>;
      },
    },
    player: { player: () => page.player } as never,
    ledger: { cached: () => pending },
    moveRewards: (from: string) => void rewardsMoved.push(from),
    signal: new AbortController().signal,
    store: store as DeviceStore,
    isWallet: (body): body is never => Boolean(body),
    prove: () => page.proof(),
    onMoved: () => {},
  } as Partial<Parameters<typeof createTransfers>[0]> as Parameters<typeof createTransfers>[0]);
  return { ...page, begin: (target = player) => transfers.begin(target), page, transfers };
}

test('a guest’s wallet follows the player who signs in, also after lost answers and a crash', async () => {
  const first = openPage({ ref: 'ann' });
  first.answers.push(lost);
  await first.begin();
  await runPendingWork();
  expect([first.requests, first.rewardsMoved]).toEqual([[{ from: guest.token }], ['ply_1']]);
  // The device has no guest any more: whoever signs out starts with nothing.
  expect([first.device.guest, first.device.moved.length]).toEqual([undefined, 1]);

  // Another player of this device gets nothing.
  const other = openPage({ ref: 'bob' }, first.device);
  other.transfers.wake();
  await runPendingWork();
  expect(other.requests).toEqual([]);

  const next = openPage({ ref: 'ann' }, first.device);
  next.answers.push(refused('token_invalid'));
  next.transfers.wake();
  await runPendingWork();
  await next.clock.advance(60_000);
  await runPendingWork();
  expect(next.requests).toHaveLength(2);
  expect([next.device.moved, next.clock.timers()]).toEqual([[], 0]);
});

test('what is confirmed after the sign-in follows', async () => {
  const { begin, device, pending, requests, transfers } = openPage({ ref: 'ann' });
  pending.push({ earnedBy: 'ply_1', state: 'pending' } as LedgerEntry);
  await begin();
  await runPendingWork();
  expect([requests.length, device.moved.length]).toEqual([1, 1]);
  pending.pop();
  transfers.wake();
  await runPendingWork();
  expect([requests.length, device.moved.length]).toEqual([2, 0]);
});

test.each(['conflict', 'player_unknown'])(
  'a transfer that is refused with %s is not repeated',
  async (code) => {
    const { answers, begin, clock, device, requests } = openPage({ ref: 'ann' });
    answers.push(refused(code));
    await begin();
    await runPendingWork();
    await clock.advance(600_000);
    expect([requests.length, device.moved, clock.timers()]).toEqual([1, [], 0]);
  },
);

test.each(['invalid_key', 'origin_not_allowed', 'identity_required', 'not_found'])(
  'a transfer that is refused with %s is repeated, because the refusal may be lifted',
  async (code) => {
    const { answers, begin, clock, device, requests } = openPage({ ref: 'ann' });
    answers.push(refused(code));
    await begin();
    await runPendingWork();
    expect([requests.length, device.moved.length]).toEqual([1, 1]);
    await clock.advance(60_000);
    await runPendingWork();
    expect([requests.length, device.moved, clock.timers()]).toEqual([2, [], 0]);
  },
);

test('only the player who signed in gets the wallet, and only if the service can know the player', async () => {
  const switched = openPage({ ref: 'bob' });
  await switched.begin({ ref: 'ann' });
  const unproven = openPage({ ref: 'ann' });
  unproven.page.proof = () =>
    Promise.resolve({ outcome: 'unavailable', reason: 'identity_required' });
  await unproven.begin();
  const child = openPage({ ref: 'ply_1' });
  await child.begin();
  const otherGuest = openPage({ ref: 'ply_2' });
  await otherGuest.begin();
  await runPendingWork();
  for (const { device, requests, rewardsMoved } of [switched, unproven, child, otherGuest])
    expect([device.guest, requests, rewardsMoved]).toEqual([guest, [], []]);
});
