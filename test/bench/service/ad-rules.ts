/**
 * `npm run bench:ad-rules` measures what 20 ad rules add to a decision: decisions with and without them in turns, on one
 * service with PostgreSQL. The rules allow every ad, so nothing is saved by refusing one.
 */
import { readOptions } from '../../../scripts/lib/read-options.mjs';
import type { AdRuleRequest, Decision } from '../../../protocol/wire.ts';
import { load } from '../../../service/test/load.ts';
import { firstIdAt } from '../../../service/src/platform/ids.ts';
import { median } from '../outbox/statistics.ts';
import { startSide } from './side.ts';

const { rounds, ms: windowMs } = readOptions({
  name: 'bench:ad-rules',
  about: `Measures what 20 ad rules add to a decision: decisions with and without them in turns. Prints CPU times, and writes
nothing. Requires Linux and PostgreSQL. Takes about two minutes.`,
  options: {
    rounds: { type: 'whole', default: 9, help: 'rounds' },
    ms: { type: 'whole', default: 2_000, help: 'the length of a window, in milliseconds' },
  },
});
const connections = 32;

const rules: AdRuleRequest[] = Array.from({ length: 20 }, (_, index) => ({
  formats: index % 2 === 0 ? ['interstitial'] : ['interstitial', 'rewarded'],
  ...(index % 3 === 0 && { placements: ['level-end'] }),
  ...(index % 4 === 0 && { segments: ['new', 'returning'] }),
  gap_s: 60 + index,
  ...(index % 5 === 0 && { gap_after: ['rewarded', 'interstitial'] }),
  max_per_session: 50,
  max_per_hour: 30,
  max_per_day: 90,
}));

const side = await startSide(connections, { name: 'this build' });
const { url, keys } = side.service;
const call = async <T>(method: string, path: string, key: string, body?: object): Promise<T> => {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (response.status >= 300) throw new Error(`${path}: ${await response.text()}`);
  return (await response.json()) as T;
};

let players = 0;
/** A session of half an hour with ten ads, the last of them ten minutes ago. */
const makeBody = (isIdentified: boolean, version: string | undefined): string =>
  JSON.stringify({
    placement: 'level-end',
    locale: 'en',
    segments: ['new'],
    ...(isIdentified && { user_ref: `player-${(players += 1)}` }),
    session: {
      age_s: 6_000,
      ...(version !== undefined && { rules_version: version }),
      ads: Array.from({ length: 10 }, (_, index) => ({
        id: firstIdAt('decision', Date.now() - 5_500_000).slice(0, -2) + String(10 + index),
        format: index % 3 === 0 ? 'rewarded' : 'interstitial',
        placement: 'level-end',
        ago_s: 600 + 500 * (9 - index),
      })),
    },
  });

const ids: string[] = [];
for (const rule of rules)
  ids.push((await call<{ id: string }>('POST', '/v1/ad-rules', keys.live.secret, rule)).id);
const setEnabled = async (enabled: boolean): Promise<string | undefined> => {
  for (const id of ids) await call('PATCH', `/v1/ad-rules/${id}`, keys.live.secret, { enabled });
  const body = JSON.parse(makeBody(false, undefined)) as object;
  const decision = await call<Decision>('POST', '/v1/decisions', keys.live.publishable, body);
  if (decision.status !== 'filled') throw new Error(JSON.stringify(decision));
  return decision.ad_rules?.version;
};

/** Returns the CPU time per decision of the service and its database, in microseconds. */
async function measure(isIdentified: boolean, version: string | undefined): Promise<number[]> {
  let count = 0;
  const key = keys.live.publishable;
  const body = (): string => makeBody(isIdentified, version);
  const cost = await side.meter.measure(1, async () => {
    const target = { url, path: '/v1/decisions', key, connections, body };
    count = (await load(target, windowMs)).latencies.length;
  });
  return [cost.serviceUs / count, cost.databaseUs / count];
}

for (const isIdentified of [false, true]) {
  const costs: Record<'with' | 'without', number[][]> = { with: [], without: [] };
  await measure(isIdentified, undefined);
  for (let round = 0; round < rounds; round += 1)
    for (const kind of round % 2 === 0
      ? (['with', 'without'] as const)
      : (['without', 'with'] as const)) {
      const version = await setEnabled(kind === 'with');
      costs[kind].push(await measure(isIdentified, version));
    }
  const describe = (kind: 'with' | 'without') => ({
    service: median(costs[kind].map(([service = 0]) => service)) ?? 0,
    database: median(costs[kind].map(([, database = 0]) => database)) ?? 0,
    total: median(costs[kind].map(([service = 0, database = 0]) => service + database)) ?? 0,
  });
  const [withRules, withoutRules] = [describe('with'), describe('without')];
  console.log(isIdentified ? 'an identified player' : 'an anonymous player', {
    withRules,
    withoutRules,
    service: withRules.service / withoutRules.service,
    total: withRules.total / withoutRules.total,
  });
}
await side.stop();
