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
  const verdicts = judge([round(60, 100), round(60, 100), round(1, 100)]);
  const held = Object.fromEntries(verdicts.map(({ budget, held: isHeld }) => [budget, isHeld]));
  expect(held).toMatchObject({
    'a whole ad with its webhook, service CPU: at most 0.5 × the older build': false,
    'bytes stored per ad: at most 0.65 × the older build': true,
    'a decision, service CPU: at most 2.2 × the older build': true,
  });
});

test('summarizes each side by the median of its rounds', () => {
  const rounds = [round(10, 1), round(30, 1), round(20, 1)];
  expect(summarize(rounds, 'this build').ad.serviceUs).toBe(20);
});
