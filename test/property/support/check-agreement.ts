import type { RewardStatus, WebhookEvent } from '../../../protocol/wire.ts';
import { maxHoldMs } from '../../../service/src/reward/early-events.ts';
import { verifyReceipt } from '../../../src/server/index.ts';
import { expect } from 'vitest';
import type { Track } from './schedule.ts';
import type { World } from './world.ts';

type FinalTrack = Track & { status: RewardStatus };
const totalsByWorld = new WeakMap<World, Map<string, number>>();

/**
 * Checks that each watched ad has eventually earned its reward exactly once. Also checks that the responses to devices,
 * the statuses, the webhooks, the receipts and the reports agree.
 */
export async function checkAgreement(world: World, tracks: Track[]): Promise<number> {
  const finalTracks = await Promise.all(
    tracks.flatMap(({ decision, ...track }) =>
      decision
        ? [world.status(decision.id).then((status): FinalTrack => ({ ...track, decision, status }))]
        : [],
    ),
  );
  const earned = finalTracks.filter(({ status }) => status.state === 'earned');
  for (const track of finalTracks) checkVerdict(track);
  checkRealTime(earned);
  checkWebhooks(world, finalTracks);
  await checkDevices(finalTracks);
  for (const track of earned) await checkReceipt(world, track);
  await checkReports(world, finalTracks);
  return earned.length;
}

function checkVerdict({ expected, status, reportedStates, ...track }: FinalTrack): void {
  const { userRef, plan, fromMs, toMs } = track;
  const details = JSON.stringify({ userRef, plan, fromMs, toMs, expected, status, reportedStates });
  if (expected === 'earned') expect(status.state, details).toBe('earned');
  if (expected === 'not earned') expect(status.state, details).not.toBe('earned');
  expect(status.state, details).not.toBe('pending');
  // A final state never changes.
  for (const state of reportedStates) {
    if (state !== 'none' && state !== 'pending') expect(state, details).toBe(status.state);
  }
  expect(status.receipt !== undefined, details).toBe(status.state === 'earned');
  if (status.state === 'denied') expect(status.reason, details).toBeDefined();
}

/** Checks that each device's ledger agrees with the service, and that each reward was delivered to the game. */
async function checkDevices(finalTracks: FinalTrack[]): Promise<void> {
  await Promise.all(
    [...new Set(finalTracks.map(({ device }) => device))].map((device) => device.returnToGame()),
  );
  for (const { decision, device, plan, status } of finalTracks) {
    if (!decision) continue;
    const details = JSON.stringify({ plan, status, kills: device.kills() });
    const entry = device.entry(decision.id);
    const deliveries = device.deliveryCount.get(decision.id) ?? 0;
    if (status.state === 'none') {
      expect(['none', 'pending', undefined], details).toContain(entry?.state);
    } else if (entry) {
      expect(entry.state, details).toBe(status.state);
      expect(entry.receipt, details).toBe(status.receipt);
    }
    // A device that was killed before it stored the decision shows no ad. The test sends the ad's events anyway.
    if (!entry) expect(device.kills(), details).toBeGreaterThan(0);
    if (status.state === 'earned' && entry) {
      expect(entry.delivered, details).toBe(true);
      expect(deliveries, details).toBeGreaterThanOrEqual(1);
      // A reward is delivered twice only if the browser was killed after the game had saved the reward and before the
      // handler finished.
      expect(deliveries, details).toBeLessThanOrEqual(1 + device.kills());
    } else expect(deliveries, details).toBe(0);
  }
}

/**
 * Checks that no player, honest or not, earns rewards for more ads in any period than there was time to watch. At the
 * end of the period, the service may have held the last completion. The world's clock stands still meanwhile.
 */
function checkRealTime(earned: FinalTrack[]): void {
  const issuedAt = ({ decision }: FinalTrack): number => Date.parse(decision?.issued_at ?? '');
  for (const first of earned) {
    for (const last of earned) {
      if (first.userRef !== last.userRef) continue;
      const [fromMs, toMs] = [issuedAt(first), last.earnedAtMs ?? Infinity];
      const within = earned.filter(
        (candidate) =>
          candidate.userRef === first.userRef &&
          issuedAt(candidate) >= fromMs &&
          (candidate.earnedAtMs ?? Infinity) <= toMs,
      );
      if (within.length === 0) continue;
      const details = JSON.stringify(within.map(({ plan }) => plan));
      expect(within.length * 5_000 * 0.95, details).toBeLessThanOrEqual(toMs + maxHoldMs - fromMs);
    }
  }
}

function checkWebhooks(world: World, finalTracks: FinalTrack[]): void {
  const byDecision = (type: WebhookEvent['type']) => {
    const eventsById = new Map<string, WebhookEvent[]>();
    for (const event of world.events.values()) {
      if (event.type !== type || !('decision_id' in event.data)) continue;
      const { decision_id: id } = event.data;
      eventsById.set(id, [...(eventsById.get(id) ?? []), event]);
    }
    return eventsById;
  };
  const rewarded = byDecision('decision.rewarded');
  const served = byDecision('decision.served');
  for (const { status, userRef, plan } of finalTracks) {
    const events = rewarded.get(status.id) ?? [];
    expect(events.length, status.id).toBe(status.state === 'earned' ? 1 : 0);
    expect((served.get(status.id) ?? []).length, status.id).toBeLessThanOrEqual(1);
    if (status.state !== 'earned') continue;
    expect(served.has(status.id), 'a rewarded ad has an impression').toBe(true);
    expect(events[0]?.data).toEqual({
      decision_id: status.id,
      evidence: 'verified',
      placement: plan.placement,
      user_ref: userRef,
      reward: status.reward,
    });
  }
}

async function checkReceipt(world: World, { status, userRef, plan }: FinalTrack): Promise<void> {
  const receipt = await verifyReceipt(status.receipt ?? '', world.keysUrl, {
    accountId: world.accountId,
    environment: 'sandbox',
    issuer: 'http://service.test',
    now: world.clock.nowMs,
  });
  expect(receipt).toMatchObject({
    decisionId: status.id,
    userRef,
    placement: plan.placement,
    reward: status.reward,
  });
}

/** Checks the report totals for this batch: the current totals minus the totals from earlier batches. */
async function checkReports(world: World, finalTracks: FinalTrack[]): Promise<void> {
  const previousTotals = totalsByWorld.get(world) ?? new Map<string, number>();
  totalsByWorld.set(world, previousTotals);
  const readIncrease = async (metric: string): Promise<number> => {
    const total = [...(await world.count(metric)).values()].reduce((sum, count) => sum + count, 0);
    const increase = total - (previousTotals.get(metric) ?? 0);
    previousTotals.set(metric, total);
    return increase;
  };
  for (const state of ['earned', 'denied', 'expired'] as const) {
    const statuses = finalTracks.filter(({ status }) => status.state === state).length;
    expect(await readIncrease(`rewards_${state}`), state).toBe(statuses);
  }
  const served = [...world.events.values()].filter(({ type }) => type === 'decision.served').length;
  const impressions = [...(await world.count('impressions')).values()];
  expect(impressions.reduce((sum, count) => sum + count, 0)).toBe(served);
}
