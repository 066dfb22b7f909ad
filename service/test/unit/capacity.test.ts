import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import {
  calculateAdCost,
  planCapacity,
  assumptions,
} from '../../../scripts/lib/capacity-model.mjs';
import { createRandom, simulate } from '../../../scripts/lib/capacity-simulation.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));

test('the tables in docs/scale.md match the measured costs', () => {
  const script = `${root}scripts/simulate-capacity.mjs`;
  const tables = execFileSync(process.execPath, [script], { encoding: 'utf8' }).trim();
  const collapseSpaces = (text: string) => text.replaceAll(/[ -]+/g, ' ');
  expect(collapseSpaces(readFileSync(`${root}docs/scale.md`, 'utf8'))).toContain(
    collapseSpaces(tables),
  );
});

test('ten times as many ads need ten times as many processes, plus one spare', () => {
  const cost = { serviceUs: 100, databaseUs: 50, storedBytes: 1_000, loggedBytes: 2_000 };
  const costs = { decision: cost, start: cost, quartiles: cost, finish: cost, delivery: cost };
  const ad = calculateAdCost(costs, { ...assumptions, shown: 1, finished: 1 });
  expect(ad).toMatchObject({ serviceUs: 500, databaseUs: 250, requests: 4 });
  const [smallPlan, largePlan] = [1_200, 12_000].map((rate) => planCapacity(rate, ad, assumptions));
  expect([smallPlan?.processes, largePlan?.processes]).toEqual([2, 11]);
  expect([smallPlan?.cores, largePlan?.cores]).toEqual([2, 5]);
});

test('a simulated server keeps up until all cores are saturated', () => {
  const scenario = {
    processes: 4,
    cores: 2,
    serviceUs: 50,
    databaseUs: 100,
    transactionUs: 100,
    syncMs: 1,
    seconds: 1,
  };
  const lightLoad = simulate({ ...scenario, rate: 4_000 }, createRandom(1));
  // Two cores handle 20,000 decisions per second.
  const overload = simulate({ ...scenario, rate: 24_000 }, createRandom(1));
  const flood = simulate({ ...scenario, rate: 60_000 }, createRandom(1));
  expect([lightLoad.canKeepUp, overload.canKeepUp, flood.canKeepUp]).toEqual([true, false, false]);
  expect(flood.p99).toBeGreaterThan(lightLoad.p99);
  expect(flood.batch).toBeGreaterThan(lightLoad.batch);
});
