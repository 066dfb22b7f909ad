/**
 * `npm run bench:wallet` measures what a wallet costs, in turns on one service with PostgreSQL: whole ads whose reward a
 * server credits and ads whose reward the service credits, spends and reads of a reward's status, and spends and the
 * cheapest durable write there is: an update of one row, without the service.
 */
import { randomUUID } from 'node:crypto';
import { readOptions } from '../../../scripts/lib/read-options.mjs';
import type { Guest, Placement } from '../../../protocol/wire.ts';
import { openPostgres } from '../../../service/src/store/postgres.ts';
import { openPool } from '../../../service/test/load.ts';
import { median } from '../outbox/statistics.ts';
import { type Ad, forEach, waitUntilWatched } from './ads.ts';
import { startSide } from './side.ts';

const {
  rounds,
  ads: adCount,
  spends: spendCount,
  connections,
} = readOptions({
  name: 'bench:wallet',
  about: `Measures what crediting in a wallet adds to an ad, and what a spend costs. Prints CPU times, and writes nothing.
Requires Linux and PostgreSQL.`,
  options: {
    rounds: { type: 'whole', default: 7, help: 'rounds' },
    ads: { type: 'whole', default: 500, help: 'ads of each kind and round' },
    spends: { type: 'whole', default: 2_000, help: 'spends per round' },
    connections: {
      type: 'whole',
      default: 16,
      help: 'requests at the same time; with 1, no two spends share a transaction',
    },
  },
});

const side = await startSide(connections, { name: 'this build' });
const { url, keys } = side.service;
const pool = openPool(url, connections);
const send = async <T>(
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  headers: Record<string, string>,
  body?: object,
): Promise<T> => {
  const response = await pool.request({
    method,
    path,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.body.text();
  if (response.statusCode >= 300) throw new Error(`${path}: ${response.statusCode} ${text}`);
  return JSON.parse(text) as T;
};
const secret = { authorization: `Bearer ${keys.live.secret}` };
const publishable = { authorization: `Bearer ${keys.live.publishable}` };

const { data: placements } = await send<{ data: Placement[] }>(
  'GET',
  '/v1/placements?limit=100',
  secret,
);
const revive = placements.find(({ name }) => name === 'revive');
if (!revive) throw new Error('The demo account has no placement revive.');
const setCredit = (credit: 'webhook' | 'wallet') =>
  send('PATCH', `/v1/placements/${revive.id}`, secret, {
    reward: { type: 'coins', amount: 25, credit },
  });

type Measured = [service: number, database: number];
/** Returns the CPU time per unit of the service and its database, in microseconds. */
async function measure(units: number, work: () => Promise<unknown>): Promise<Measured> {
  const { serviceUs, databaseUs } = await side.meter.measure(units, work);
  return [serviceUs, databaseUs];
}
const indexes = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** Whole ads, each of a player of its own. */
const watchAds = async (): Promise<Measured> =>
  measure(adCount, async () => {
    const ads: Ad[] = await forEach(indexes(adCount), connections, () => side.live.decide());
    await forEach(ads, connections, (ad) => side.live.start(ad));
    await waitUntilWatched(ads, 1);
    await forEach(ads, connections, (ad) => side.live.finish(ad));
  });

const tokens = await forEach(indexes(64), connections, async () => {
  const guest = await send<Guest>('POST', '/v1/players', publishable);
  const grant = { type: 'coins', amount: 1_000_000, reason: 'a benchmark' };
  await send('POST', `/v1/wallets/${guest.player_ref}/grants`, secret, grant);
  return guest.player_token;
});
const spend = (): Promise<Measured> =>
  measure(spendCount, () =>
    forEach(indexes(spendCount), connections, (index) =>
      send(
        'POST',
        '/v1/wallet/spends',
        { ...publishable, 'player-token': tokens[index % tokens.length] ?? '' },
        { id: randomUUID(), type: 'coins', amount: 1, reason: 'red hat' },
      ),
    ),
  );
const watched = await side.live.decide();
await side.live.start(watched);
await waitUntilWatched([watched], 1);
await side.live.finish(watched);
const readStatus = (): Promise<Measured> =>
  measure(spendCount, () =>
    forEach(indexes(spendCount), connections, () =>
      send('GET', `/v1/decisions/${watched.id}`, {
        ...publishable,
        'decision-token': watched.token,
      }),
    ),
  );
const database = openPostgres(side.databaseUrl ?? '', console.error);
const players = await database.query<{ viewer: string }>('SELECT viewer FROM wallet_balances');
const updateRow = (): Promise<Measured> =>
  measure(spendCount, () =>
    forEach(indexes(spendCount), connections, (index) =>
      database.execute('UPDATE wallet_balances SET active_until = NULL WHERE viewer = $1', [
        players[index % players.length]?.viewer,
      ]),
    ),
  );

/** Measures two kinds of work in turns, and prints the medians and their ratio. */
async function compare(
  kinds: readonly [name: string, prepare: () => unknown, work: () => Promise<Measured>][],
): Promise<void> {
  const costs = kinds.map((): Measured[] => []);
  for (const [, prepare, work] of kinds) {
    await prepare();
    await work();
  }
  for (let round = 0; round < rounds; round += 1)
    for (const index of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const [, prepare, work] = kinds[index] ?? [];
      await prepare?.();
      if (work) costs[index]?.push(await work());
    }
  const sums = costs.map((measured) => {
    const of = (read: (cost: Measured) => number) => median(measured.map(read)) ?? 0;
    return {
      service: of(([service]) => service),
      database: of(([, database]) => database),
      total: of(([service, database]) => service + database),
    };
  });
  const ratios = costs[0]?.map(([service, database], index) => {
    const [otherService, otherDatabase] = costs[1]?.[index] ?? [0, 0];
    return (otherService + otherDatabase) / (service + database);
  });
  kinds.forEach(([name], index) => console.log(name, sums[index]));
  const range = [Math.min(...(ratios ?? [])), Math.max(...(ratios ?? []))];
  console.log(`ratio ${(sums[1]?.total ?? 0) / (sums[0]?.total ?? 1)}, per round`, range);
}

const nothing = (): void => undefined;
await compare([
  ['an ad that a server credits', () => setCredit('webhook'), watchAds],
  ['an ad that the service credits', () => setCredit('wallet'), watchAds],
]);
await compare([
  ['a read of a reward’s status', nothing, readStatus],
  ['a spend', nothing, spend],
]);
await compare([
  ['an update of one row', nothing, updateRow],
  ['a spend', nothing, spend],
]);
await database.close();
await pool.close();
await side.stop();
