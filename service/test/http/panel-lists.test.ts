import type { Problem } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createManualClock } from '../manual-clock.ts';
import { createPanelClient, type PanelClient, signInOwner } from './panel-client.ts';

interface ListPage {
  data: { id: string; name: string }[];
  total: number;
}

let runningService: InProcessService;
let owner: PanelClient;
beforeAll(async () => {
  const clock = createManualClock(Date.parse('2030-01-01T00:00:00Z'));
  runningService = await startInProcess({ RATE_LIMITS: 'off' }, { clock });
  owner = await signInOwner(runningService);
  const [{ account_id: accountId } = { account_id: '' }] =
    await runningService.service.database.query<{
      account_id: string;
    }>(`SELECT account_id FROM accounts WHERE name = 'Demo'`);
  await runningService.service.database.query(
    `INSERT INTO resources (account_id, environment, kind, id, document, revision, created_at, updated_at)
      SELECT $1, 'sandbox', 'advertiser', 'adv_' || lpad(n::text, 26, '0'),
        jsonb_build_object('name', CASE WHEN n % 2 = 0 THEN 'Even ' ELSE 'odd ' END || lpad(n::text, 4, '0'),
          'domain', 'a' || n || '.example', 'weight', n, 'review', jsonb_build_object('status', 's' || n % 3)),
        1, now(), now() FROM generate_series(1, 300) AS n`,
    [accountId],
  );
});
afterAll(() => runningService.stop());

const list = async (query: Record<string, string>) => {
  const path = `/panel/api/advertisers?${new URLSearchParams(query)}`;
  const { status, body } = await owner.send<ListPage>('GET', path);
  expect(status).toBe(200);
  return {
    total: body.total,
    names: body.data.map(({ name }) => name),
    ids: body.data.map(({ id }) => id),
  };
};

test('a list is searched, filtered, sorted and paginated by the service', async () => {
  const evenPage = await list({ q: 'EVEN', sort: 'name', limit: '3', offset: '147' });
  expect(evenPage).toMatchObject({ total: 150, names: ['Even 0296', 'Even 0298', 'Even 0300'] });
  const heaviestPage = await list({ sort: 'weight', order: 'desc', limit: '2' });
  expect(heaviestPage.names).toEqual(['Even 0300', 'odd 0299']);
  const filteredPage = await list({ where: 'review.status=s1', limit: '2' });
  expect(filteredPage).toMatchObject({ total: 100, names: ['Even 0004', 'Even 0010'] });
  await owner.send('POST', '/v1/advertisers', { name: 'aardvark', domain: 'first.example' });
  expect((await list({ limit: '2' })).names).toEqual(['aardvark', 'Even 0002']);
});

test('a page past the end is empty but includes the total', async () => {
  expect(await list({ q: 'even', offset: '500' })).toEqual({ total: 150, names: [], ids: [] });
});

test('a request can read several objects by id', async () => {
  const { ids } = await list({ limit: '100' });
  expect((await list({ ids: ids.join(','), limit: '100' })).ids.toSorted()).toEqual(ids.toSorted());
});

test('a search treats SQL wildcards literally', async () => {
  for (const q of ['%', "'", '\\']) expect((await list({ q })).total).toBe(0);
});

test.each(['name=%00', '%00=a', '%00', 'status=active&review.status=%00'])(
  'a filter with text that cannot be stored is refused: %s',
  async (where) => {
    const path = `/panel/api/advertisers?${new URLSearchParams({ where })}`;
    const { status, body } = await owner.send<Problem>('GET', path);
    expect([status, body.errors?.[0]?.pointer]).toEqual([422, '/where']);
  },
);

test('a list contains only objects that belong to the session’s account and environment', async () => {
  const liveClient = createPanelClient(runningService.url, 'live');
  await liveClient.signIn('owner@example.com');
  const { body } = await liveClient.send<ListPage>('GET', '/panel/api/advertisers?q=even');
  expect(body).toEqual({ data: [], total: 0 });
  const anonymousResponse = await createPanelClient(runningService.url).send(
    'GET',
    '/panel/api/advertisers',
  );
  expect(anonymousResponse.status).toBe(401);
});

test('the audit log is filtered by actor, action and time', async () => {
  const { body } = await owner.send<{ id: string }>('POST', '/v1/sources', {
    name: 'Partner',
    kind: 'direct',
  });
  await owner.send('PATCH', `/v1/sources/${body.id}`, { status: 'paused' });
  const listActions = async (query: Record<string, string>) => {
    const path = `/v1/audit-entries?${new URLSearchParams(query)}`;
    const { body: page } = await owner.send<{ data: { action: string }[] }>('GET', path);
    return page.data.map(({ action }) => action);
  };
  // Sorted, because both entries can have the same timestamp.
  expect((await listActions({ action: 'source.' })).toSorted()).toEqual([
    'source.created',
    'source.updated',
  ]);
  expect(await listActions({ action: 'source.', actor: 'OWNER@' })).toHaveLength(2);
  expect(await listActions({ actor: 'nobody' })).toEqual([]);
  const [past, future] = ['2020-01-01T00:00:00Z', '2100-01-01T00:00:00Z'];
  expect(await listActions({ action: 'source.', from: past, to: future })).toHaveLength(2);
  expect(await listActions({ action: 'source.', from: future })).toEqual([]);
  expect(await listActions({ action: 'source.', to: past })).toEqual([]);
});
