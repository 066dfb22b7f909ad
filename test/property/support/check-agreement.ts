import type { RewardStatus, WebhookEvent } from '../../../protocol/wire.ts';
import { verifyReceipt } from '../../../src/server/index.ts';
import { expect } from 'vitest';
import type { Track } from './schedule.ts';
import type { World } from './world.ts';

type Final = Track & { status: RewardStatus };
const totalsByWorld = new WeakMap<World, Map<string, number>>();

/**
 * Checks that each watched ad has finally earned its reward once. Also checks that the responses to devices, the
 * statuses, the webhooks, the receipts and the reports agree.
 */
export async function checkAgreement(world: World, tracks: Track[]): Promise<number> {
  const finalResults = await Promise.all(
    tracks.flatMap(({ decision, ...track }) =>
      decision
        ? [world.status(decision.id).then((status): Final => ({ ...track, decision, status }))]
        : [],
    ),
  );
  const earned = finalResults.filter(({ status }) => status.state === 'earned');
  for (const final of finalResults) checkVerdict(final);
  checkRealTime(earned);
  checkWebhooks(world, finalResults);
  await checkDevices(finalResults);
  for (const final of earned) await checkReceipt(world, final);
  await checkReports(world, finalResults);
  return earned.length;
}

function checkVerdict({ expected, status, reportedStates, ...track }: Final): void {
  const { userRef, plan, fromMs, toMs } = track;
  const about = JSON.stringify({ userRef, plan, fromMs, toMs, expected, status, reportedStates });
  if (expected === 'earned') expect(status.state, about).toBe('earned');
  if (expected === 'not earned') expect(status.state, about).not.toBe('earned');
  expect(status.state, about).not.toBe('pending');
  // A final state never changes.
  for (const state of reportedStates) {
    if (state !== 'none' && state !== 'pending') expect(state, about).toBe(status.state);
  }
  expect(status.receipt !== undefined, about).toBe(status.state === 'earned');
  if (status.state === 'denied') expect(status.reason, about).toBeDefined();
}

/** Checks that each device's ledger agrees with the service, and that each reward was delivered to the game. */
async function checkDevices(finalResults: Final[]): Promise<void> {
  await Promise.all(
    [...new Set(finalResults.map(({ device }) => device))].map((device) => device.returnToGame()),
  );
  for (const { decision, device, plan, status } of finalResults) {
    if (!decision) continue;
    const about = JSON.stringify({ plan, status, kills: device.kills() });
    const entry = device.entry(decision.id);
    const times = device.deliveryCount.get(decision.id) ?? 0;
    if (status.state === 'none') {
      expect(['none', 'pending', undefined], about).toContain(entry?.state);
    } else if (entry) {
      expect(entry.state, about).toBe(status.state);
      expect(entry.receipt, about).toBe(status.receipt);
    }
    // A device that was killed before it stored the decision shows no ad. The test sends its events nevertheless.
    if (!entry) expect(device.kills(), about).toBeGreaterThan(0);
    if (status.state === 'earned' && entry) {
      expect(entry.delivered, about).toBe(true);
      expect(times, about).toBeGreaterThanOrEqual(1);
      // A reward is delivered twice only if the browser was killed between two moments: when the game had saved the
      // reward and when the handler finished.
      expect(times, about).toBeLessThanOrEqual(1 + device.kills());
    } else expect(times, about).toBe(0);
  }
}

/** Checks that no player, honest or not, earns more rewards in any period than there was time to watch ads. */
function checkRealTime(earned: Final[]): void {
  const issuedAt = ({ decision }: Final): number => Date.parse(decision?.issued_at ?? '');
  for (const first of earned) {
    for (const last of earned) {
      if (first.userRef !== last.userRef) continue;
      const [fromMs, toMs] = [issuedAt(first), last.earnedAtMs ?? Infinity];
      const inside = earned.filter(
        (candidate) =>
          candidate.userRef === first.userRef &&
          issuedAt(candidate) >= fromMs &&
          (candidate.earnedAtMs ?? Infinity) <= toMs,
      );
      if (inside.length === 0) continue;
      const about = JSON.stringify(inside.map(({ plan }) => plan));
      expect(inside.length * 5_000 * 0.95, about).toBeLessThanOrEqual(toMs - fromMs);
    }
  }
}

function checkWebhooks(world: World, finalResults: Final[]): void {
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
  for (const { status, userRef, plan } of finalResults) {
    const events = rewarded.get(status.id) ?? [];
    expect(events.length, status.id).toBe(status.state === 'earned' ? 1 : 0);
    expect((served.get(status.id) ?? []).length, status.id).toBeLessThanOrEqual(1);
    if (status.state !== 'earned') continue;
    expect(served.has(status.id), 'a reward has its impression').toBe(true);
    expect(events[0]?.data).toEqual({
      decision_id: status.id,
      evidence: 'verified',
      placement: plan.placement,
      user_ref: userRef,
      reward: status.reward,
    });
  }
}

async function checkReceipt(world: World, { status, userRef, plan }: Final): Promise<void> {
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

/** Checks the reports' sums for this batch. These are the current sums minus the sums of earlier batches. */
async function checkReports(world: World, finalResults: Final[]): Promise<void> {
  const previousTotals = totalsByWorld.get(world) ?? new Map<string, number>();
  totalsByWorld.set(world, previousTotals);
  const readAdded = async (metric: string): Promise<number> => {
    const total = [...(await world.count(metric)).values()].reduce((sum, count) => sum + count, 0);
    const increase = total - (previousTotals.get(metric) ?? 0);
    previousTotals.set(metric, total);
    return increase;
  };
  for (const state of ['earned', 'denied', 'expired'] as const) {
    const statuses = finalResults.filter(({ status }) => status.state === state).length;
    expect(await readAdded(`rewards_${state}`), state).toBe(statuses);
  }
  const served = [...world.events.values()].filter(({ type }) => type === 'decision.served').length;
  const impressions = [...(await world.count('impressions')).values()];
  expect(impressions.reduce((sum, count) => sum + count, 0)).toBe(served);
}
