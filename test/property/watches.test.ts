import { describe, expect, inject, test } from 'vitest';
import { cheats, playCheat } from './support/cheats.ts';
import { playHonestly } from './support/honest.ts';
import { judgePlayer, type JudgedAd } from './support/judge.ts';
import { createRandom, drawSeed, readSeed } from './support/random.ts';

/** To replay a run: `TRUEWARD_SEED=… npx vitest run --project property watches`. */
const seed = readSeed() ?? drawSeed();
console.log(`Seed: ${seed}.`);
const startAtMs = Date.UTC(2026, 5, 1, 12);
/** So many that the share of pending rewards, 0.4 %, varies little with the seed. */
const honestAdViews = inject('full') ? 100_000 : 10_000;
const playersPerCheat = inject('full') ? 300 : 30;

test(`denies none of ${honestAdViews} honest ad views on slow devices, lossy networks and devices that sleep`, () => {
  const outcomes = new Map<string, number>();
  let adViewCount = 0;
  for (let player = 0; adViewCount < honestAdViews; player += 1) {
    const { ads, arrivals } = playHonestly(createRandom(seed + player), startAtMs);
    for (const judged of judgePlayer(ads, arrivals)) {
      const { rewardState, rewardReason, invalidReason } = judged;
      const outcome = [rewardState, rewardReason, invalidReason].filter(Boolean).join(' ');
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      if (/denied|impossible_order/.test(outcome))
        throw new Error(`Player ${player}: ${JSON.stringify({ judged, arrivals })}`);
      adViewCount += 1;
    }
  }
  console.log(Object.fromEntries(outcomes));
  expect((outcomes.get('earned') ?? 0) / adViewCount).toBeGreaterThan(0.99);
});

describe('a cheater who', () => {
  test.each(Object.keys(cheats))('%s earns no more than the elapsed time justifies', (name) => {
    let [claimed, earned] = [0, 0];
    for (let player = 0; player < playersPerCheat; player += 1) {
      const random = createRandom(seed + player);
      const { ads, arrivals } = playCheat(random, name, startAtMs);
      const rewarded = judgePlayer(ads, arrivals).filter(
        ({ rewardState }) => rewardState === 'earned',
      );
      expectPossible(rewarded, `player ${player}`);
      claimed += ads.length;
      earned += rewarded.length;
    }
    console.log(`${name}: ${earned} of ${claimed} earned.`);
  });
});

/** Asserts that, in any period, no player earns rewards for more watch time than the period's length. */
function expectPossible(rewarded: readonly JudgedAd[], details: string): void {
  for (const { issuedAtMs: fromMs } of rewarded) {
    for (const { settledAtMs: toMs } of rewarded) {
      const within = rewarded.filter(
        (ad) => ad.issuedAtMs >= fromMs && (ad.settledAtMs ?? 0) <= (toMs ?? 0),
      );
      if (within.length > 0)
        expect(within.length * 5_000 * 0.95, details).toBeLessThanOrEqual((toMs ?? 0) - fromMs);
    }
  }
}
