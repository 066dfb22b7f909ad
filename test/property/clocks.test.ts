import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, inject, test } from 'vitest';
import { readWhole } from '../../scripts/lib/read-whole.mjs';
import type { AdEvent, Decision } from '../../protocol/wire.ts';
import { startPrivatePostgres } from '../../service/test/private-postgres.ts';
import { type ClockWorld, createClockWorld, quickAdMs, realMs } from './support/clock-world.ts';

/** Number of honest ad views. `TRUEWARD_WATCHES=10000 npx vitest run --project property clocks` runs many. */
const watches = readWhole('TRUEWARD_WATCHES', inject('full') ? 2_000 : 30);
const concurrency = watches > 1_000 ? 120 : 60;
/** How long a process is paused. */
const pauseMs = watches > 1_000 ? 30_000 : 4_000;
/** By how much more than real time a reward may have been watched, according to the service: see docs/clocks.md. */
const boundMs = 2_250;
const hourMs = 3_600_000;

const postgres = await startPrivatePostgres();
afterAll(() => postgres?.stop());

type Filled = Decision & { token: string };

/** Plays one ad and reports it. The device's clock is wrong, and requests take different times. */
async function play(
  world: ClockWorld,
  { userRef, placement, shownMs }: { userRef: string; placement: string; shownMs: number },
): Promise<{ state: string | undefined; elapsedMs: number }> {
  const skewMs = (Math.random() - 0.5) * 1_200_000;
  const now = (): string => new Date(realMs() + skewMs).toISOString();
  const askedAtMs = realMs();
  const decision: Filled = await world.decide({ placement, user_ref: userRef, formats: ['image'] });
  const event = (type: AdEvent['type'], more: Partial<AdEvent> = {}): AdEvent => ({
    id: randomUUID(),
    type,
    decision_id: decision.id,
    token: decision.token,
    occurred_at: now(),
    ...more,
  });
  const send = async (...events: AdEvent[]) => {
    await sleep(Math.random() * 20);
    const { decisions } = await world.report(now(), events);
    return decisions.find(({ id }) => id === decision.id)?.state;
  };
  const started = send(event('start'));
  await sleep(shownMs);
  const impression = event('impression', { visible: { ratio: 1, ms: 1_000 } });
  const complete = event('complete', { watched_ms: placement === 'revive' ? 5_000 : quickAdMs });
  const states =
    Math.random() < 0.5
      ? [await send(impression, complete)]
      : await Promise.all([send(impression), send(complete)]);
  await started;
  return {
    state: states.find((state) => state === 'earned') ?? states[0],
    elapsedMs: realMs() - askedAtMs,
  };
}

/** Plays honest and cheating players, and lets `happen` change the clocks as they go. */
async function run(world: ClockWorld, happen: (share: number) => void): Promise<string[]> {
  const problems: string[] = [];
  let begun = 0;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (begun < watches) {
        const number = (begun += 1);
        happen(number / watches);
        const honest = play(world, {
          userRef: `player-${number}`,
          placement: 'double-coins',
          shownMs: quickAdMs + 5,
        });
        // Every tenth ad view is accompanied by two cheats: one that shows nothing, and one that stops halfway.
        const cheats =
          number % 10 === 0
            ? [
                play(world, { userRef: `cheat-${number}`, placement: 'revive', shownMs: 0 }),
                play(world, {
                  userRef: `cheat-half-${number}`,
                  placement: 'double-coins',
                  shownMs: quickAdMs / 2,
                }),
              ]
            : [];
        const { state } = await honest;
        if (state !== 'earned') problems.push(`player ${number}: ${state}`);
        for (const [index, cheat] of (await Promise.all(cheats)).entries()) {
          const requiredMs = 0.95 * (index === 0 ? 5_000 : quickAdMs) - boundMs;
          if (cheat.state === 'earned' && cheat.elapsedMs < requiredMs)
            problems.push(`cheat ${number}: paid after ${Math.round(cheat.elapsedMs)} ms`);
        }
      }
    }),
  );
  return problems;
}

/** Calls each step once, when its share of the ad views has begun. */
function schedule(steps: readonly [number, () => unknown][]): {
  happen(share: number): void;
  done(): Promise<unknown>;
} {
  const remaining = [...steps];
  const results: unknown[] = [];
  return {
    happen(share) {
      while (remaining[0] && share >= remaining[0][0]) results.push(remaining.shift()?.[1]());
    },
    done: () => Promise.all(results),
  };
}

test.skipIf(postgres === undefined)(
  `denies none of ${watches} honest ad views on five processes whose clocks differ and jump`,
  { timeout: 120_000 + watches * 200 },
  async () => {
    const world = await createClockWorld(postgres?.url, [0, 2_000, -2_000, hourMs - 5_000]);
    const machine = (index: number) => world.processes[index]?.machine;
    const pause = (index: number, kind: 'stopped' | 'asleep' | 'frozen') =>
      world.processes[index]?.pause(pauseMs, kind);
    const { happen, done } = schedule([
      [0.05, () => machine(0)?.step(-3_000)],
      [0.1, () => machine(1)?.step(3_000)],
      [0.15, () => machine(2)?.step(hourMs)],
      [0.2, () => machine(3)?.step(-hourMs)],
      [0.25, () => pause(0, 'stopped')],
      [0.35, () => pause(1, 'asleep')],
      [0.45, () => pause(2, 'frozen')],
      [0.6, () => world.failOver(-1_000)],
      [0.65, () => world.add(-hourMs + 5_000)],
      [0.85, () => world.failOver(0)],
    ]);
    try {
      const problems = await run(world, happen);
      await done();
      const rewards = await world.countRewards();
      console.log(rewards);
      expect(problems).toEqual([]);
      expect(rewards['honest earned']).toBe(watches);
    } finally {
      await world.stop();
    }
  },
);

test(
  'denies none of the honest ad views on the embedded database while its machine’s clock jumps',
  { timeout: 120_000 + watches * 200 },
  async () => {
    const world = await createClockWorld(undefined, [0]);
    const machine = world.processes[0]?.machine;
    const { happen, done } = schedule([
      [0.2, () => machine?.step(-3_000)],
      [0.4, () => machine?.step(3_000)],
      [0.6, () => machine?.step(-hourMs)],
      [0.8, () => machine?.step(2 * hourMs)],
    ]);
    try {
      const problems = await run(world, happen);
      await done();
      console.log(await world.countRewards());
      expect(problems).toEqual([]);
    } finally {
      await world.stop();
    }
  },
);
