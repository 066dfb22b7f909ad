import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createPanelClient, type PanelClient, signInOwner } from './panel-client.ts';

let running: InProcessService;
let owner: PanelClient;
beforeAll(async () => {
  running = await startInProcess({ RATE_LIMITS: 'off' });
  owner = await signInOwner(running);
  // Two ads on three placements; the second ad has more clicks, and the first one more impressions.
  await running.service.database.query(
    `INSERT INTO rollups (account_id, environment, hour, placement, creative_id, source_id, advertiser_id, house_ad_id, metric, reason, count)
      SELECT account_id, 'sandbox', '2026-01-05T10:00:00Z', placement, '', '', '', ad, metric, '', count
        FROM accounts, (VALUES ('revive', 'had_1', 'impressions', 9), ('lobby', 'had_1', 'impressions', 1),
          ('revive', 'had_1', 'filled', 20), ('revive', 'had_2', 'impressions', 3), ('revive', 'had_2', 'clicks', 2),
          ('level-end', '', 'no_fill', 30), ('level-end', '', 'blocked', 5)) AS counts (placement, ad, metric, count)
        WHERE name = 'Demo'`,
  );
});
afterAll(() => running.stop());

type Row = Record<string, unknown> & { value: string };
const read = async (query: Record<string, string>, client = owner) => {
  const period = { from: '2026-01-05T00:00:00Z', to: '2026-01-06T00:00:00Z' };
  const path = `/panel/api/top?${new URLSearchParams({ ...period, ...query })}`;
  return client.send<{ data: Row[] }>('GET', path);
};
const list = async (query: Record<string, string>) =>
  (await read(query)).body.data.map(({ value }) => value);

test.each<[Record<string, string>, string[]]>([
  [{ dimension: 'house_ad', by: 'impressions' }, ['had_1', 'had_2']],
  [{ dimension: 'house_ad', by: 'clicks' }, ['had_2', 'had_1']],
  [{ dimension: 'placement', by: 'requests' }, ['level-end', 'revive', 'lobby']],
  [{ dimension: 'placement', by: 'impressions', house_ad: 'had_1' }, ['revive', 'lobby']],
  [{ dimension: 'placement', by: 'impressions', house_ad: 'had_3' }, []],
  [{ dimension: 'house_ad', by: 'clicks', to: '2026-01-05T10:00:00Z' }, []],
])('the top by %o', async (query, values) => {
  expect(await list(query)).toEqual(values);
});

test('the top has the counts of each object', async () => {
  const { body } = await read({ dimension: 'placement', by: 'requests' });
  const none = { filled: 0, impressions: 0, clicks: 0, rewards_earned: 0 };
  expect(body.data).toEqual([
    { ...none, value: 'level-end', requests: 35 },
    { ...none, value: 'revive', requests: 20, filled: 20, impressions: 12, clicks: 2 },
    { ...none, value: 'lobby', requests: 0, impressions: 1 },
  ]);
});

test.each([
  ['2026-02-09T00:00:00Z', 200],
  ['2026-02-09T00:00:01Z', 422],
  ['2025-01-05T00:00:00Z', 422],
])('the top of the days from January 5, 2025, to %s: %i', async (to, status) => {
  const period = { from: '2025-01-05T00:00:00Z', to };
  const response = await read({ ...period, dimension: 'placement', by: 'clicks' });
  expect(response.status).toBe(status);
});

test('an unknown dimension or count is refused, and the other environment has a top of its own', async () => {
  expect((await read({ dimension: 'reason', by: 'clicks' })).status).toBe(422);
  expect((await read({ dimension: 'placement', by: 'count' })).status).toBe(422);
  const live = createPanelClient(running.url, 'live');
  await live.signIn('owner@example.com');
  expect((await read({ dimension: 'placement', by: 'clicks' }, live)).body.data).toEqual([]);
});
