import type * as Phaser from 'phaser';
import type { Decision } from '../../../../protocol/wire.ts';
import type { TruewardPlugin } from '../../../../src/phaser/index.ts';
import type { ServiceClient } from '../../../../src/transport/service-client.ts';

/** A service client that never gets a response, so that nothing leaves the storage while it is being filled. */
const silentClient: ServiceClient = { call: () => new Promise(() => {}) };

/** Fills the storage the way an earlier visit would: with queued events and with rewards for watched ads. */
export async function fillStorage(
  {
    publishableKey,
    serviceUrl,
    userRef,
  }: Record<'publishableKey' | 'serviceUrl' | 'userRef', string>,
  events: number,
  rewards: number,
): Promise<void> {
  const name = `trueward:sandbox_${Sdk.parseKey(publishableKey)?.gameId}@${new URL(serviceUrl).host}`;
  const ports = {
    name,
    client: silentClient,
    clock: Sdk.systemClock,
    random: Math.random,
    newId: Sdk.newRandomId,
    locks: Sdk.browserLocks(),
    connectivity: Sdk.browserConnectivity,
    lifecycle: Sdk.browserPageLifecycle,
    openTabChannel: Sdk.browserTabChannel,
    deliver: () => () => {},
    player: { player: () => ({ ref: userRef }), identify() {} },
  };
  const store = Sdk.createIndexedDbStore({ name: `${name}:outbox`, clock: Sdk.systemClock });
  const outbox = Sdk.createOutbox({ ...ports, store });
  const ledger = Sdk.createLedger({ name: `${name}:rewards`, clock: Sdk.systemClock });
  const device = Sdk.createRewards({ ...ports, ledger });
  const eventsPerReward = events / rewards;
  const run = Sdk.newRandomId().slice(0, 20);
  for (let index = 0; index < rewards; index += 1) {
    const decision = decide(run, index);
    await device.track(decision);
    await device.setWatched(decision.id);
    await Promise.all(
      Array.from({ length: eventsPerReward }, (_, place) =>
        outbox.enqueue({
          type: place === eventsPerReward - 1 ? 'complete' : 'impression',
          decision_id: decision.id,
          token: 'token',
        }),
      ),
    );
  }
}

function decide(run: string, index: number): Decision {
  return {
    // Each run uses its own ids, because a decision's reward is delivered only once.
    id: `dec_${run}${String(index).padStart(6, '0')}`,
    status: 'filled',
    placement: 'revive',
    format: 'rewarded',
    reward: { type: 'coins', amount: 1 },
    token: 'token',
    issued_at: new Date().toISOString(),
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  };
}

/**
 * Does a fixed amount of work that takes about as long as a delivery, 45 microseconds. Its actual duration shows how
 * fast the machine currently is.
 */
function runFixedWork(): number {
  let sum = 0;
  for (let index = 0; index < 12_000; index += 1) sum += Math.sqrt(index ^ sum);
  return sum;
}

/**
 * Wraps the `step` listener when it is added, and measures its cost in each frame, in milliseconds. `control` is the cost
 * of a fixed amount of work in the same frames.
 */
export function measureDeliveries(game: Phaser.Game): { costs: number[]; control: number[] } {
  const costs: number[] = [];
  const control: number[] = [];
  const { events } = game;
  const wrappers = new Map<unknown, () => void>();
  const [on, off] = [events.on.bind(events), events.off.bind(events)];
  events.on = (name, callback, context) => {
    if (name !== 'step' || context !== undefined) return on(name, callback, context);
    const wrapper = () => {
      const startedAtMs = performance.now();
      callback();
      const endedAtMs = performance.now();
      runFixedWork();
      costs.push(endedAtMs - startedAtMs);
      control.push(performance.now() - endedAtMs);
    };
    wrappers.set(callback, wrapper);
    return on(name, wrapper);
  };
  events.off = (name, callback, ...rest) => off(name, wrappers.get(callback) ?? callback, ...rest);
  return { costs, control };
}

/**
 * Resolves when no events or rewards are pending. `isDelivered` tells whether all rewards have arrived: until the storage
 * has been read, none is known to be pending.
 */
export async function waitUntilEmpty(
  ads: TruewardPlugin,
  isDelivered: () => boolean,
): Promise<void> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    const state = ads.diagnostics();
    if (!state) throw new Error('The plugin did not start.');
    const { outbox, rewards } = state;
    const isEmpty = outbox.stored === 0 && rewards.pending === 0 && rewards.undelivered === 0;
    if (isEmpty && isDelivered()) return;
  }
}
