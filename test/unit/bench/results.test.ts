import { expect, test } from 'vitest';
import type { Cost } from '../../bench/service/meter.ts';
import { judge, ratios, type Round, summarize, type Unit } from '../../bench/service/results.ts';

const units = [
  'decisionAlone',
  'decision',
  'start',
  'quartiles',
  'finish',
  'delivery',
  'ad',
] as const;
const costs = (us: number): Record<Unit, Cost> => {
  const cost: Cost = { serviceUs: us, databaseUs: us, storedBytes: us, loggedBytes: us };
  return Object.fromEntries(units.map((unit) => [unit, cost])) as Record<Unit, Cost>;
};
const round = (currentUs: number, previousUs: number): Round => ({
  echoUs: 20,
  sides: { 'this build': costs(currentUs), 'older build': costs(previousUs) },
});

test('computes each ratio from measurements in the same round', () => {
  const rounds = [round(10, 100), round(200, 1_000), round(30, 100)];
  expect(ratios(rounds, 'ad', 'serviceUs')).toEqual([0.1, 0.2, 0.3]);
  const [ad] = judge(rounds);
  expect(ad).toMatchObject({ measured: '0.20 × (0.10–0.30)', held: true });
});

test('a budget fails if the median of the rounds exceeds it', () => {
  const judgeAd = (...rounds: Round[]) => judge(rounds)[0];
  expect(judgeAd(round(106, 100), round(106, 100), round(1, 100))).toEqual({
    budget: 'a whole ad with its webhook, service CPU: at most 1.05 × the older build',
    measured: '1.06 × (0.01–1.06)',
    held: false,
  });
  expect(judgeAd(round(105, 100), round(105, 100), round(300, 100))).toMatchObject({ held: true });
});

test('summarizes each side by the median of its rounds', () => {
  const rounds = [round(10, 1), round(30, 1), round(20, 1)];
  expect(summarize(rounds, 'this build').ad.serviceUs).toBe(20);
});
