import { afterAll, beforeAll, expect, test } from 'vitest';
import { createObjects } from '../fuzz/objects.ts';
import { listRoutes } from '../hostile/routes.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { type Client, createClient } from './client.ts';
import { type PanelClient, signInAs, signInOwner } from './panel-client.ts';

// A person decides on what a page shows, so a change of what has changed meanwhile is refused.

let running: InProcessService;
let client: Client;
let owner: PanelClient;
let ids: Record<string, string>;
beforeAll(async () => {
  running = await startInProcess({ RATE_LIMITS: 'off' });
  client = createClient(running);
  owner = await signInOwner(running);
  const network = { name: 'N', kind: 'page', adapter: 'google_h5', placements: ['revive'] };
  ids = {
    ...(await createObjects(running)),
    users: (await signInAs(running, owner, 'viewer')).id,
    callbacks: (await client.manage<{ id: string }>('POST', '/v1/sources', network)).id,
  };
});
afterAll(() => running.stop());

/** A route with which a person changes what a page shows, and two changes. */
interface Row {
  /** The key of the object's id. */
  of?: string;
  /** Where the page reads what it shows. Default: the route's own path. */
  shownBy?: string;
  mine: object;
  theirs: object;
}
const named: Pick<Row, 'mine' | 'theirs'> = { mine: { name: 'Mine' }, theirs: { name: 'Theirs' } };

const rows: Record<string, Row> = {
  'PATCH /v1/placements/:id': {
    of: 'placements',
    mine: { late_window_s: 7_200 },
    theirs: { late_window_s: 10_800 },
  },
  'PATCH /v1/sources/:id': { of: 'sources', ...named },
  'PATCH /v1/advertisers/:id': { of: 'advertisers', ...named },
  'PATCH /v1/creatives/:id': { of: 'creatives', ...named },
  'PATCH /v1/house-ads/:id': { of: 'house-ads', ...named },
  'PATCH /v1/policies/:id': { of: 'policies', ...named },
  'PATCH /v1/ad-rules/:id': {
    of: 'ad-rules',
    mine: { max_per_day: 5 },
    theirs: { max_per_day: 6 },
  },
  'PATCH /v1/kill-switches/:id': {
    of: 'kill-switches',
    mine: { reason: 'mine' },
    theirs: { reason: 'theirs' },
  },
  'PATCH /v1/webhooks/:id': {
    of: 'webhooks',
    mine: { events: ['decision.rewarded'] },
    theirs: { events: ['policy.blocked'] },
  },
  'POST /v1/creatives/:id/review': {
    of: 'creatives',
    shownBy: '/v1/creatives/:id',
    mine: { status: 'approved' },
    theirs: { status: 'suspended' },
  },
  'POST /v1/sources/:id/callback': {
    of: 'callbacks',
    shownBy: '/v1/sources/:id',
    mine: { decision_parameter: 'mine' },
    theirs: { decision_parameter: 'theirs' },
  },
  'PATCH /v1/keys/:id': { of: 'keys', ...named },
  'PUT /v1/retention': { mine: { decision_days: 90 }, theirs: { audit_days: 90 } },
  'PUT /v1/grant-budgets/:type': {
    shownBy: '/v1/grant-budgets',
    mine: { amount: 5 },
    theirs: { duration_s: 60 },
  },
  'PATCH /panel/api/users/:id': { of: 'users', ...named },
};

test('every route that changes what a page shows has a row', () => {
  const changes = listRoutes(running.service.app).filter((route) => /^(PATCH|PUT) /.test(route));
  const others = Object.keys(rows).filter((route) => route.startsWith('POST '));
  expect(Object.keys(rows).toSorted()).toEqual([...changes, ...others].toSorted());
});

test.each(Object.entries(rows))('%s', async (route, { of, shownBy, mine, theirs }) => {
  const [method = '', template = ''] = route.split(' ');
  const fill = (path: string) => path.replace(':id', ids[of ?? ''] ?? '').replace(':type', 'coins');
  const path = fill(template);
  const read = () => owner.send('GET', fill(shownBy ?? template));
  const send = (body: object, ifMatch?: string) =>
    owner.send(method, path, body, { 'if-match': ifMatch });
  const change = async (body: object, ifMatch?: string): Promise<number> =>
    (await send(body, ifMatch)).status;
  const shown = (await read()).headers.get('etag') ?? '';
  expect(shown).toMatch(/^"[\w-]+"$/);
  const answer = await send(theirs, '*');
  const changed = await read();
  expect(answer.status).toBe(200);
  // The panel shows the response in place of the record.
  if (method === 'PATCH') expect(answer.body).toEqual(changed.body);
  expect(changed.headers.get('etag')).not.toBe(shown);
  expect(await change(mine, shown)).toBe(412);
  expect(await change(mine)).toBe(428);
  const after = await read();
  expect([after.body, after.headers.get('etag')]).toEqual([
    changed.body,
    changed.headers.get('etag'),
  ]);
  // A list of tags, as HTTP allows it.
  expect(await change(mine, `"other", ${changed.headers.get('etag')}`)).toBe(200);
});
