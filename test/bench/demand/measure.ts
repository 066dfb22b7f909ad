import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { median, percentile } from '../outbox/statistics.ts';
import { roundOrder } from '../service/builds.ts';
import type { Side } from '../service/side.ts';
import {
  type Decided,
  houseOnly,
  listActiveSources,
  type PlacementName,
  placements,
  type Players,
  setSourceStatus,
  withHangingSources,
} from './demand.ts';
import type {
  CostRow,
  DirectRow,
  HangingResults,
  HouseOnlyResults,
  LatencyRow,
  Memory,
  Percentiles,
} from './results.ts';
import type { SourceServer } from './source-server.ts';

/** A service to measure, with its players. */
export interface MeasuredService {
  side: Side;
  players: Players;
}

/** The default value of `DEMAND_BUDGET_MS`. */
const budgetMs = 1_000;
const costConcurrency = 16;

const computePercentiles = (values: number[]): Percentiles => [
  percentile(values, 0.5) ?? NaN,
  percentile(values, 0.99) ?? NaN,
];

/**
 * Requests decisions for `ms` milliseconds. Each player requests the next decision as soon as the previous one arrives
 * (a closed loop).
 */
async function decideFor(
  { players }: MeasuredService,
  placement: PlacementName,
  concurrency: number,
  ms: number,
): Promise<Decided[]> {
  const untilMs = performance.now() + ms;
  const decided: Decided[] = [];
  const player = async (): Promise<void> => {
    while (performance.now() < untilMs) decided.push(await players.decide(placement));
  };
  await Promise.all(Array.from({ length: concurrency }, player));
  return decided;
}

/**
 * Sends `rate` requests per second for `ms` milliseconds, at random times and without waiting for responses (an open
 * loop). This is realistic, because real players don't wait for each other. In a closed loop, the players would soon
 * send requests in lockstep, because responses from one commit arrive together.
 */
async function sendAtRandomTimes<T>(
  rate: number,
  ms: number,
  send: () => Promise<T>,
): Promise<T[]> {
  const endMs = performance.now() + ms;
  const sent: Promise<T>[] = [];
  for (let dueMs = performance.now(); dueMs < endMs; dueMs += drawGapMs(rate)) {
    await sleep(dueMs - performance.now());
    sent.push(send());
  }
  return Promise.all(sent);
}

/** Draws a random interarrival time for a Poisson process. */
const drawGapMs = (rate: number): number => (-Math.log(1 - Math.random()) * 1_000) / rate;

/** @throws Error if a decision does not have the expected kind of ad. */
function checkAds(
  decided: readonly Decided[],
  placement: PlacementName,
  isExternal: boolean,
): void {
  const wrong = decided.find(
    ({ decision }) => (decision.creative?.advertiser !== undefined) !== isExternal,
  );
  if (wrong)
    throw new Error(
      `${placement}: expected ${isExternal ? 'an external' : 'a house'} ad, got ${JSON.stringify(wrong.decision.explain)}`,
    );
}

/** Measures decision latencies, alternating between placements with and without sources. */
export async function measureLatencies(
  measured: MeasuredService,
  server: SourceServer,
  rate: number,
  { rounds, windowMs }: { rounds: number; windowMs: number },
): Promise<LatencyRow[]> {
  const names = [houseOnly, ...(Object.keys(placements) as (keyof typeof placements)[])] as const;
  const rows = names.map((placement) => ({
    placement,
    decided: [] as (Decided & { sourceMs: number })[],
  }));
  for (let round = 0; round < rounds; round += 1) {
    for (const { placement, decided } of roundOrder(rows, round)) {
      await server.takeTimes();
      const window = await sendAtRandomTimes(rate, windowMs, () =>
        measured.players.decide(placement),
      );
      const times = await server.takeTimes();
      checkAds(window, placement, placement !== houseOnly);
      decided.push(
        ...window.map((result) => ({ ...result, sourceMs: times[result.player] ?? NaN })),
      );
    }
  }
  return rows.map(({ placement, decided }) => ({
    placement,
    rate,
    count: decided.length,
    decisionMs: computePercentiles(decided.map(({ ms }) => ms)),
    ...(placement !== houseOnly && {
      sourceMs: computePercentiles(decided.map(({ sourceMs }) => sourceMs)),
      addedMs: computePercentiles(decided.map(({ ms, sourceMs }) => ms - sourceMs)),
    }),
  }));
}

/**
 * Response times of the sources that players query directly, in milliseconds. The same delays are used in
 * {@link placements}.
 */
const directDelaysMs = [0, 20, 60];

/** Measures requests sent directly to a source at `rate` per second. */
export async function measureDirect(
  { players }: MeasuredService,
  server: SourceServer,
  rate: number,
  { rounds, windowMs }: { rounds: number; windowMs: number },
): Promise<DirectRow[]> {
  await server.serve({ direct: '<VAST version="4.2"/>' });
  const rows: DirectRow[] = [];
  for (const delayMs of directDelaysMs) {
    await server.takeTimes();
    const sent = await sendAtRandomTimes(rate, (rounds * windowMs) / 2, () =>
      players.requestDirectly(`${server.url}/${delayMs}/direct`),
    );
    const times = await server.takeTimes();
    const added = sent.map(({ player: id, ms }) => ms - (times[id] ?? NaN));
    rows.push({ delayMs, rate, count: added.length, addedMs: computePercentiles(added) });
  }
  return rows;
}

/**
 * Measures decisions whose sources all hang. Each batch has new sources, because a hanging source's circuit breaker
 * opens and stops further requests.
 */
export async function measureHanging(
  { side, players }: MeasuredService,
  server: SourceServer,
  batches: number,
): Promise<HangingResults> {
  const [hangingResults, openResults]: [Decided[], Decided[]] = [[], []];
  // The requests are staggered, as with real players. The last one starts before the first circuit breaker opens.
  const decide = (): Promise<Decided[]> =>
    Promise.all(
      Array.from({ length: costConcurrency }, async (_, index) => {
        await sleep(index * 20);
        return players.decide('all hang');
      }),
    );
  for (let batch = 0; batch < batches; batch += 1) {
    await withHangingSources(side.service, server, async () => {
      hangingResults.push(...(await decide()));
      openResults.push(...(await decide()));
    });
  }
  checkAds([...hangingResults, ...openResults], 'all hang', false);
  const tooFast = hangingResults.find(({ ms }) => ms < budgetMs);
  if (tooFast)
    throw new Error(`A decision did not wait for its sources: ${JSON.stringify(tooFast)}`);
  return {
    budgetMs,
    count: hangingResults.length,
    decisionMs: computePercentiles(hangingResults.map(({ ms }) => ms)),
    openMs: computePercentiles(openResults.map(({ ms }) => ms)),
  };
}

/** Measures the service's CPU time per decision, alternating between placements with and without sources. */
export async function measureCosts(
  measured: MeasuredService,
  { rounds, windowMs }: { rounds: number; windowMs: number },
): Promise<CostRow[]> {
  const names = [houseOnly, 'VAST, no delay', 'OpenRTB, no delay'] as const;
  const rows = names.map((placement): CostRow => ({ placement, serviceUs: [] }));
  for (let round = 0; round < rounds; round += 1) {
    for (const row of roundOrder(rows, round)) {
      const { serviceUs } = await measureCost(measured, row.placement as PlacementName, windowMs);
      row.serviceUs.push(serviceUs);
    }
  }
  return rows;
}

async function measureCost(
  measured: MeasuredService,
  placement: PlacementName,
  windowMs: number,
): Promise<{ serviceUs: number; ms: number }> {
  let decided: Decided[] = [];
  const { serviceUs } = await measured.side.meter.measure(1, async () => {
    decided = await decideFor(measured, placement, costConcurrency, windowMs);
  });
  checkAds(decided, placement, placement !== houseOnly);
  return { serviceUs: serviceUs / decided.length, ms: median(decided.map(({ ms }) => ms)) ?? NaN };
}

/**
 * Measures decisions for house ads. Each round has two windows: other placements' sources are active in one and paused
 * in the other.
 */
export async function compareHouseOnly(
  measured: MeasuredService,
  { rounds, windowMs }: { rounds: number; windowMs: number },
): Promise<HouseOnlyResults> {
  const { service } = measured.side;
  const sources = await listActiveSources(service);
  type WindowCost = Awaited<ReturnType<typeof measureCost>>;
  const costs: Record<'active' | 'paused', WindowCost[]> = { active: [], paused: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const status of roundOrder(['active', 'paused'] as const, round)) {
      await setSourceStatus(service, sources, status);
      costs[status].push(await measureCost(measured, houseOnly, windowMs));
    }
  }
  await setSourceStatus(service, sources, 'active');
  const divide = (unit: keyof WindowCost): number[] =>
    costs.active.map((cost, round) => cost[unit] / (costs.paused[round]?.[unit] ?? NaN));
  return { cpuRatios: divide('serviceUs'), latencyRatios: divide('ms') };
}

/** Resident memory of a process, in bytes. */
export const residentBytes = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1_024;

/** Measures how much memory many concurrent decisions need while they wait for hanging sources. */
export async function measureWaiting(
  { side, players }: MeasuredService,
  server: SourceServer,
  waiting: number,
): Promise<Pick<Memory, 'waiting' | 'kbPerWaiting'>> {
  const pid = side.service.process.pid ?? 0;
  const added = await withHangingSources(side.service, server, async () => {
    const before = residentBytes(pid);
    const decisions = Array.from({ length: waiting }, () => players.decide('all hang'));
    await sleep(budgetMs * 0.8);
    const duringBytes = residentBytes(pid);
    await Promise.all(decisions);
    return duringBytes - before;
  });
  return { waiting, kbPerWaiting: Math.max(0, added) / waiting / 1_024 };
}
