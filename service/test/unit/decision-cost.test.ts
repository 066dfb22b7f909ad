import { expect, test } from 'vitest';
import { decide } from '../../src/decision/decide.ts';
import { type AnyResource, compileSnapshot } from '../../src/decision/snapshot.ts';
import { defaultQuotas } from '../../src/platform/quota-limits.ts';
import { createAdResources, createKillSwitch, createPlacement, createPolicy } from './fixtures.ts';

const list = (length: number, make: (index: number) => string): string[] =>
  Array.from({ length }, (_, index) => make(index));
const times = <T>(count: number, make: (index: number) => T[]): T[] =>
  Array.from({ length: count }, (_, index) => make(index)).flat();

/** As many ads, policies and kill switches as an account may have, all in one placement and with the longest lists. */
const resources: AnyResource[] = [
  ...times(defaultQuotas.house_ads, (n) =>
    createAdResources(`ad${n}`, {
      houseAd: { placements: ['revive', ...list(99, (index) => `place-${index}`)] },
    }),
  ),
  ...times(defaultQuotas.policies, (n) => [
    createPolicy({
      id: `pol_${n}`,
      when: {
        languages: list(500, (index) => `x${index}`).concat('pt'),
        segments: list(500, (index) => `segment-${index}`).concat('guild'),
      },
      block: {
        domains: list(500, (index) => `sub.d${index}.of-${n}.example`),
        categories: list(500, (index) => `IAB${index}`),
      },
    }),
  ]),
  ...times(defaultQuotas.kill_switches, (n) => [createKillSwitch('advertiser', `adv_other${n}`)]),
  ...times(defaultQuotas.placements - 1, (n) => [
    {
      kind: 'placement' as const,
      document: createPlacement({ id: `plc_x${n}`, name: `place-${n}` }),
    },
  ]),
  { kind: 'placement', document: createPlacement() },
];

const measureCpuMs = (work: () => void): number => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
};

test('the largest configuration that an account may have makes neither a change nor a decision expensive', () => {
  let snapshot = compileSnapshot([]);
  const compileMs = measureCpuMs(() => (snapshot = compileSnapshot(resources)));
  const decideOnce = () =>
    decide({
      snapshot,
      entry: snapshot.placements.get('revive') as NonNullable<
        ReturnType<typeof snapshot.placements.get>
      >,
      request: { placement: 'revive' },
      context: { childDirected: false, hour: 12, language: 'pt-BR', segments: ['guild'] },
      servedAtMs: [],
      pageAdsAtMs: [],
      ruleEnds: new Map(),
      adFree: [],
      dailyBudgets: new Map(),
      nowMs: Date.parse('2026-06-01T12:00:00.000Z'),
      random: 0,
    });
  const firstMs = measureCpuMs(() => expect(decideOnce().status).toBe('filled'));
  const decisions = 50;
  const nextMs = measureCpuMs(() => void times(decisions, () => [decideOnce()])) / decisions;
  // Searching the lists takes seconds for each of them.
  expect({ compileMs, firstMs, nextMs }).toEqual({
    compileMs: expect.toSatisfy((ms: number) => ms < 600),
    firstMs: expect.toSatisfy((ms: number) => ms < 600),
    nextMs: expect.toSatisfy((ms: number) => ms < 10),
  });
});
