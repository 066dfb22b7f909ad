import type { Problem } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createObjects } from '../fuzz/objects.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createClient } from './client.ts';
import { type PanelClient, signInOwner } from './panel-client.ts';

// A list that is read page by page is the whole list, newest first. A page is the newest part of what is left.

let running: InProcessService;
let owner: PanelClient;
let ids: Record<string, string>;
beforeAll(async () => {
  running = await startInProcess({ RATE_LIMITS: 'off' });
  owner = await signInOwner(running);
  const client = createClient(running);
  for (let count = 0; count < 4; count += 1) ids = await createObjects(running);
  const webhook = `/v1/webhooks/${ids['webhooks']}`;
  for (let count = 0; count < 3; count += 1) {
    await client.manage('POST', `${webhook}/test`, {});
    await client.manage('POST', `${webhook}/recover?since=2026-01-01T00:00:00Z`, {});
    const grant = { type: 'coins', amount: 1, reason: 'lost' };
    await client.manage('POST', '/v1/wallets/somebody/grants', grant);
    await client.manage('POST', '/v1/sources', {
      name: `N${count}`,
      kind: 'page',
      adapter: 'google_h5',
      placements: ['revive'],
    });
    await client.decide({ placement: 'nowhere' });
    const user = { email: `user${count}@example.com`, name: 'User', role: 'viewer' };
    await owner.send('POST', '/panel/api/users', user);
  }
});
afterAll(() => running.stop());

interface Page {
  data: { id: string }[];
  has_more: boolean;
  next_cursor?: string;
}

async function read(path: string): Promise<Page> {
  const { status, body } = await owner.send<Page>('GET', path);
  expect([path, status]).toEqual([path, 200]);
  return body;
}

async function readPages(path: string, limit: number): Promise<string[]> {
  const found: string[] = [];
  let cursor = '';
  for (;;) {
    const page = await read(`${path}limit=${limit}${cursor}`);
    found.push(...page.data.map(({ id }) => id));
    expect(page.has_more).toBe(page.next_cursor !== undefined);
    if (page.next_cursor === undefined) return found;
    expect(page.data).toHaveLength(limit);
    cursor = `&starting_after=${page.next_cursor}`;
  }
}

const lists = [
  '/v1/placements?',
  '/v1/sources?',
  '/v1/advertisers?',
  '/v1/creatives?',
  '/v1/house-ads?',
  '/v1/policies?',
  '/v1/ad-rules?',
  '/v1/kill-switches?',
  '/v1/webhooks?',
  '/v1/keys?',
];

/** Lists that grow with time. Their ids contain it. */
const streams = [
  '/v1/webhooks/{id}/deliveries?',
  '/v1/webhooks/{id}/deliveries?state=pending&',
  '/v1/jobs?',
  '/v1/webhook-events?',
  '/v1/webhook-events?type=decision.served&',
  '/v1/audit-entries?',
  '/v1/audit-entries?action=policy.created&',
  '/panel/api/decisions?',
  '/panel/api/decisions?player=somebody&',
  '/panel/api/decisions?placement=revive&',
  '/panel/api/decisions?state=filled&',
  '/panel/api/users?',
];

test('every list that is read page by page has a row', async () => {
  const description = (await (await fetch(`${running.url}/openapi.json`)).json()) as {
    paths: Record<string, { get?: { parameters?: { name: string }[] } }>;
  };
  const described = Object.entries(description.paths).flatMap(([path, { get }]) =>
    get?.parameters?.some(({ name }) => name === 'starting_after') ? [path] : [],
  );
  const rows = [...lists, ...streams, '/v1/wallets/{player_ref}/entries?']
    .map((path) => path.split('?')[0] ?? '')
    .filter((path) => path.startsWith('/v1/'));
  expect([...new Set(rows)].toSorted()).toEqual(described.toSorted());
});

test.each([...lists, ...streams, '/v1/wallets/somebody/entries?'])('%s', async (row) => {
  const path = row.replace('{id}', ids['webhooks'] ?? '');
  const all = (await read(`${path}limit=100`)).data.map(({ id }) => id);
  expect(all.length).toBeGreaterThanOrEqual(3);
  if (streams.includes(row)) expect(all).toEqual(all.toSorted().toReversed());
  for (const limit of [1, 2]) expect(await readPages(path, limit)).toEqual(all);
});

const unknownId = '01h455vb4pex5vsknk084sn02q';
const badCursors = [
  '',
  'x',
  '0',
  '-1',
  '1.5',
  `del${unknownId}`,
  `xyz_${unknownId}`,
  'plc_1',
  '%00',
];

/** Resolves to the status and to the pointers of the errors. */
async function readErrors(path: string): Promise<[number, string[] | undefined]> {
  const { status, body } = await owner.send<Problem>('GET', path);
  return [status, body.errors?.map(({ pointer }) => pointer)];
}

test.each([...lists, ...streams, '/v1/wallets/somebody/entries?'])(
  '%s refuses cursors that no list returns, and numbers that are not decimal',
  async (row) => {
    const path = row.replace('{id}', ids['webhooks'] ?? '');
    for (const cursor of badCursors) {
      const query = `starting_after=${cursor}`;
      expect([query, ...(await readErrors(path + query))]).toEqual([
        query,
        422,
        ['/starting_after'],
      ]);
    }
    for (const limit of ['1e1', '0x10', '%2010', '10%20', '+10', '10.0', ''])
      expect([limit, ...(await readErrors(`${path}limit=${limit}`))]).toEqual([
        limit,
        422,
        ['/limit'],
      ]);
    expect(await readErrors(`${path}limit=010`)).toEqual([200, undefined]);
    expect(await readErrors(`${path}limit=-1`)).toEqual([422, ['/limit']]);
  },
);

test.each([
  ['/panel/api/placements?offset=', 'offset'],
  ['/panel/api/placements?limit=', 'limit'],
])('%s takes decimal digits only', async (path, name) => {
  for (const value of ['1e1', '0x10', '%2010'])
    expect([value, ...(await readErrors(path + value))]).toEqual([value, 422, [`/${name}`]]);
});
