import { randomUUID } from 'node:crypto';
import type {
  AuditEntry,
  Creative,
  Decision,
  KillSwitch,
  Placement,
  Problem,
} from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { type Client, createClient } from './client.ts';
import { startReceiver } from './receiver.ts';

let runningService: InProcessService;
let client: Client;
beforeAll(async () => {
  runningService = await startInProcess();
  client = createClient(runningService);
});
afterAll(() => runningService.stop());

type Document = Record<string, unknown> & { id: string };
type List = { data: Document[]; has_more: boolean; next_cursor?: string };

const post = <T = Document>(path: string, body?: unknown, headers?: Record<string, string>) =>
  client.call<T>('POST', path, client.secret, body, headers);
const patch = <T = Document>(path: string, body: unknown, headers?: Record<string, string>) =>
  client.call<T>('PATCH', path, client.secret, body, headers);
const get = <T = Document>(path: string) => client.call<T>('GET', path, client.secret);
const remove = (path: string, headers?: Record<string, string>) =>
  client.call<Problem>('DELETE', path, client.secret, undefined, headers);

const createName = () => `p-${randomUUID()}`;
const image = {
  format: 'image',
  files: [{ url: 'https://cdn.example/a.png', mime: 'image/png', width: 10, height: 10 }],
};

async function createDemand() {
  const { body: source } = await post('/v1/sources', { name: 'S', kind: 'house' });
  const { body: advertiser } = await post('/v1/advertisers', { name: 'A', domain: 'a.example' });
  const { body: placement } = await post('/v1/placements', {
    name: createName(),
    format: 'interstitial',
  });
  const { body: creative } = await post('/v1/creatives', {
    name: 'C',
    advertiser_id: advertiser.id,
    source_id: source.id,
    media: image,
    alt: 'c',
  });
  return { source, advertiser, placement, creative };
}

test('objects of every kind can be created, read, updated and archived', async () => {
  const { source, advertiser, placement, creative } = await createDemand();
  const name = placement['name'];
  const { body: houseAd } = await post('/v1/house-ads', {
    name: 'H',
    creative_id: creative.id,
    placements: [name],
  });
  const { body: policy } = await post('/v1/policies', {
    name: 'P',
    kind: 'policy',
    block: { categories: ['IAB7'] },
    placements: [name],
  });
  const { body: adRule } = await post('/v1/ad-rules', {
    formats: ['interstitial'],
    placements: [name],
    gap_s: 60,
  });
  const { body: killSwitch } = await post('/v1/kill-switches', {
    scope: 'placement',
    target_id: name,
    state: 'off',
  });
  expect(adRule).toMatchObject({ enabled: true });
  expect(placement).toMatchObject({ cooldown_s: 0, late_window_s: 86_400, status: 'active' });
  expect(houseAd).toMatchObject({ priority: 5, weight: 1, status: 'active' });
  expect(policy).toMatchObject({ when: {}, status: 'active' });
  expect(creative).toMatchObject({ categories: [], review: { status: 'pending_review' } });

  // An object in use cannot be archived, so the order matters.
  const cases: [string, Document, object][] = [
    ['/v1/kill-switches', killSwitch, { reason: 'why' }],
    ['/v1/policies', policy, { status: 'paused' }],
    ['/v1/ad-rules', adRule, { enabled: false }],
    ['/v1/house-ads', houseAd, { weight: 3 }],
    ['/v1/creatives', creative, { alt: 'other' }],
    ['/v1/advertisers', advertiser, { categories: ['IAB1'] }],
    ['/v1/sources', source, { status: 'paused' }],
    ['/v1/placements', placement, { cooldown_s: 5 }],
  ];
  for (const [path, createdObject, change] of cases) {
    const objectPath = `${path}/${createdObject.id}`;
    const response = await get(objectPath);
    expect(response.body).toEqual(createdObject);
    expect(response.headers.get('etag')).toBe('"1"');
    expect((await get<List>(path)).body.data).toContainEqual(createdObject);
    const updateResponse = await patch(objectPath, change);
    expect([updateResponse.status, updateResponse.headers.get('etag')]).toEqual([200, '"2"']);
    expect((await get(objectPath)).body).toEqual(updateResponse.body);
    expect(updateResponse.body).toMatchObject(change);
    const removal = await remove(objectPath);
    expect([removal.status, removal.headers.get('etag')]).toEqual([204, null]);
    expect((await get<Problem>(objectPath)).body.code).toBe('not_found');
    const audit = await get<{ data: AuditEntry[] }>(
      `/v1/audit-entries?target_id=${createdObject.id}`,
    );
    expect(audit.body.data.map(({ action }) => action.split('.')[1])).toEqual([
      'archived',
      'updated',
      'created',
    ]);
    // The audit log contains what is stored, whereas `phase` depends on the time at which it is read.
    const omitPhase = ({ phase: _phase, ...stored }: Document) => stored;
    expect(audit.body.data[1]).toMatchObject({
      before: omitPhase(createdObject),
      after: omitPhase(updateResponse.body as Document),
    });
    expect(audit.body.data[0]?.actor).toMatch(/^key_/);
  }
});

test('an object in use cannot be archived', async () => {
  const { advertiser, creative } = await createDemand();
  const rejection = await remove(`/v1/advertisers/${advertiser.id}`);
  expect([rejection.status, rejection.body.code]).toEqual([409, 'conflict']);
  expect(rejection.body.detail).toContain(creative.id);
});

test.each<[string, string, (id: string) => object]>([
  [
    'a policy',
    '/v1/policies',
    (id) => ({ name: 'P', kind: 'commercial', block: { advertisers: [id] } }),
  ],
  [
    'a kill switch',
    '/v1/kill-switches',
    (id) => ({ scope: 'advertiser', target_id: id, state: 'on' }),
  ],
])('an advertiser that %s stops cannot be archived', async (_what, path, makeRule) => {
  const { body: advertiser } = await post('/v1/advertisers', { name: 'A', domain: 'a.example' });
  const { body: rule } = await post(path, makeRule(advertiser.id));
  const rejection = await remove(`/v1/advertisers/${advertiser.id}`);
  expect([rejection.status, rejection.body.detail]).toEqual([
    409,
    `${rule.id} still refers to this object.`,
  ]);
  await remove(`${path}/${rule.id}`);
  expect((await remove(`/v1/advertisers/${advertiser.id}`)).status).toBe(204);
});

test('a paginated list contains each object once', async () => {
  const names = new Set<unknown>();
  for (let index = 0; index < 5; index += 1) {
    const { body } = await post('/v1/placements', { name: createName(), format: 'banner' });
    names.add(body['name']);
  }
  const listedNames: unknown[] = [];
  let cursor: string | undefined;
  do {
    const query = `limit=2${cursor === undefined ? '' : `&starting_after=${cursor}`}`;
    const { body } = await get<List>(`/v1/placements?${query}`);
    listedNames.push(...body.data.map(({ name }) => name));
    cursor = body.next_cursor;
    expect(body.has_more).toBe(cursor !== undefined);
  } while (cursor !== undefined);
  expect(new Set(listedNames).size).toBe(listedNames.length);
  expect([...names].filter((name) => !listedNames.includes(name))).toEqual([]);
});

test.each([
  ['/v1/placements', { name: 'x1', format: 'rewarded' }, '/reward'],
  ['/v1/placements', { name: 'x2', format: 'banner', reward: { type: 'a', amount: 1 } }, '/reward'],
  ['/v1/placements', { name: 'X', format: 'banner' }, '/name'],
  ['/v1/placements', { name: 'x3', format: 'banner', id: 'plc_1' }, '/id'],
  ['/v1/sources', { name: 'S', kind: 'vast' }, '/tag_url'],
  ['/v1/sources', { name: 'S', kind: 'house', tag_url: 'https://a.example/' }, '/tag_url'],
  ['/v1/sources', { name: 'S', kind: 'openrtb' }, '/endpoint_url'],
  [
    '/v1/sources',
    { name: 'S', kind: 'vast', tag_url: 'https://a.example/', placements: ['nowhere'] },
    '/placements/0',
  ],
  ['/v1/sources', { name: 'S', kind: 'house', media: 'copy' }, '/media'],
  ['/v1/policies', { name: 'P', kind: 'policy', block: {} }, '/block'],
  ['/v1/policies', { name: 'P', kind: 'policy', block: { domains: [] } }, '/block'],
  [
    '/v1/policies',
    { name: 'P', kind: 'policy', block: { everything: true }, placements: ['nowhere'] },
    '/placements/0',
  ],
  ['/v1/kill-switches', { scope: 'source', target_id: 'src_x', state: 'on' }, '/target_id'],
])('%s rejects %j', async (path, body, pointer) => {
  const response = await post<Problem>(path, body);
  expect([response.status, response.body.code]).toEqual([422, 'invalid_request']);
  expect(response.body.errors?.map((error) => error.pointer)).toContain(pointer);
});

test.each([
  [{ media: { format: 'html', width: 1, height: 1 } }, '/media'],
  [
    { media: { format: 'html', url: 'https://a.example/', inline: 'x', width: 1, height: 1 } },
    '/media',
  ],
  [{ click_url: 'javascript:alert(1)' }, '/click_url'],
  [{ media: { ...image, format: 'video', duration_ms: 2_499 } }, '/media/duration_ms'],
  [{ media: { ...image, format: 'video', duration_ms: 2_500 } }, '/media/files/0/mime'],
  [{ advertiser_id: 'adv_01h455vb4pex5vsknk084sn02q' }, '/advertiser_id'],
])('a creative cannot be changed to %j', async (change, pointer) => {
  const { creative } = await createDemand();
  const response = await patch<Problem>(`/v1/creatives/${creative.id}`, change);
  expect(response.status).toBe(422);
  expect(response.body.errors?.map((error) => error.pointer)).toContain(pointer);
});

test('a placement that a source uses cannot be archived', async () => {
  const { body: placement } = await post('/v1/placements', {
    name: createName(),
    format: 'interstitial',
  });
  const tag = 'https://ads.example/v?cb=[CACHEBUSTING]';
  const source = await post('/v1/sources', {
    name: 'Network',
    kind: 'vast',
    tag_url: tag,
    placements: [placement['name']],
    cpm_micros: 2_500_000,
  });
  expect([source.status, source.body['tag_url']]).toEqual([201, tag]);
  const rejection = await remove(`/v1/placements/${String(placement['id'])}`);
  expect([rejection.status, rejection.body.detail]).toEqual([
    409,
    `${String(source.body['id'])} still refers to this object.`,
  ]);
});

test('only sandbox sources in development may use loopback addresses', async () => {
  const source = { name: 'S', kind: 'vast', tag_url: 'http://127.0.0.1:9000/v' };
  expect((await post('/v1/sources', source)).status).toBe(201);
  const live = createClient(runningService, 'live');
  const response = await live.call<Problem>('POST', '/v1/sources', live.secret, source);
  expect([response.status, response.body.errors?.[0]?.pointer]).toEqual([422, '/tag_url']);
});

test('a reference to an object in the other environment is rejected', async () => {
  const { advertiser, source } = await createDemand();
  const live = createClient(runningService, 'live');
  const response = await live.call<Problem>('POST', '/v1/creatives', live.secret, {
    name: 'C',
    advertiser_id: advertiser.id,
    source_id: source.id,
    media: image,
    alt: '',
  });
  expect(response.body.errors?.map(({ pointer }) => pointer)).toEqual([
    '/advertiser_id',
    '/source_id',
  ]);
});

test('only one of several concurrent requests can create a placement with the same name', async () => {
  const name = createName();
  const responses = await Promise.all(
    Array.from({ length: 20 }, () => post<Problem>('/v1/placements', { name, format: 'banner' })),
  );
  expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
    201,
    ...Array<number>(19).fill(409),
  ]);
});

test('updating a field to null removes the field', async () => {
  const { body } = await post<Placement>('/v1/placements', {
    name: createName(),
    format: 'banner',
    frequency_cap: { max: 1, per_s: 60 },
  });
  const updateResponse = await patch<Placement>(`/v1/placements/${body.id}`, {
    frequency_cap: null,
  });
  expect(updateResponse.body).not.toHaveProperty('frequency_cap');
  expect((await patch(`/v1/placements/${body.id}`, {})).status).toBe(422);
  expect((await patch(`/v1/placements/${body.id}`, { name: 'other' })).status).toBe(422);
});

test('an update with a stale revision is rejected', async () => {
  const { body } = await post('/v1/placements', { name: createName(), format: 'banner' });
  const objectPath = `/v1/placements/${body.id}`;
  const responses = await Promise.all(
    [1, 2].map((cooldown_s) => patch<Problem>(objectPath, { cooldown_s }, { 'if-match': '"1"' })),
  );
  expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 412]);
  expect((await remove(objectPath, { 'if-match': '"1"' })).body.code).toBe('precondition_failed');
  expect((await remove(objectPath, { 'if-match': '"2"' })).status).toBe(204);
});

test('concurrent requests with the same Idempotency-Key are executed once', async () => {
  const headers = { 'idempotency-key': randomUUID() };
  const body = { name: 'S', kind: 'house' };
  const responses = await Promise.all(
    Array.from({ length: 10 }, () => post('/v1/sources', body, headers)),
  );
  expect(new Set(responses.map((response) => response.body.id)).size).toBe(1);
  expect(responses.map(({ status }) => status)).toEqual(Array<number>(10).fill(201));
  expect(responses.filter((response) => response.headers.has('idempotency-replayed')).length).toBe(
    9,
  );
  const conflictResponse = await post<Problem>('/v1/sources', { ...body, name: 'T' }, headers);
  expect([conflictResponse.status, conflictResponse.body.code]).toEqual([
    409,
    'idempotency_key_reused',
  ]);
  const liveResponse = await createClient(runningService, 'live').call(
    'POST',
    '/v1/sources',
    runningService.keys.live.secret,
    body,
    headers,
  );
  expect(liveResponse.headers.has('idempotency-replayed')).toBe(false);
});

test('a rejected request does not use up its Idempotency-Key', async () => {
  const headers = { 'idempotency-key': randomUUID() };
  const killSwitch = { scope: 'placement', target_id: createName(), state: 'off' };
  expect((await post('/v1/kill-switches', killSwitch, headers)).status).toBe(422);
  await post('/v1/placements', { name: killSwitch.target_id, format: 'banner' });
  expect((await post('/v1/kill-switches', killSwitch, headers)).status).toBe(201);
});

test('reviews, media changes and kill switches emit webhook events', async () => {
  const receiver = await startReceiver();
  await post('/v1/webhooks', {
    url: receiver.url,
    events: ['creative.review_updated', 'kill_switch.changed'],
  });
  const { creative, placement } = await createDemand();
  const review = (status: string) =>
    post<Creative>(`/v1/creatives/${creative.id}/review`, { status, feedback: 'seen' });
  expect((await review('approved')).body.review).toMatchObject({
    status: 'approved',
    reviewed_by: expect.stringMatching(/^key_/) as string,
  });
  await patch(`/v1/creatives/${creative.id}`, { alt: 'the same picture' });
  expect((await get<Creative>(`/v1/creatives/${creative.id}`)).body.review.status).toBe('approved');
  await patch(`/v1/creatives/${creative.id}`, { click_url: 'https://b.example/' });
  const { body: killSwitch } = await post<KillSwitch>('/v1/kill-switches', {
    scope: 'placement',
    target_id: placement.id,
    state: 'on',
  });
  await patch(`/v1/kill-switches/${killSwitch.id}`, { reason: 'none' });
  await patch(`/v1/kill-switches/${killSwitch.id}`, { state: 'off' });
  const events = (await receiver.waitForRequests(4)).map(
    ({ body }) => JSON.parse(body) as { id: string; type: string; data: object },
  );
  expect(events.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(({ data }) => data)).toEqual([
    { creative_id: creative.id, previous: 'pending_review', current: 'approved', feedback: 'seen' },
    { creative_id: creative.id, previous: 'approved', current: 'pending_review' },
    {
      kill_switch_id: killSwitch.id,
      scope: 'placement',
      target_id: placement.id,
      state: 'on',
      actor: expect.stringMatching(/^key_/) as string,
    },
    {
      kill_switch_id: killSwitch.id,
      scope: 'placement',
      target_id: placement.id,
      state: 'off',
      actor: expect.stringMatching(/^key_/) as string,
      reason: 'none',
    },
  ]);
  await receiver.close();
});

test('a change takes effect before its response is sent', async () => {
  const { body } = await post<KillSwitch>('/v1/kill-switches', {
    scope: 'placement',
    target_id: 'lobby',
    state: 'on',
  });
  const request = async () =>
    (
      await client.call<Decision>('POST', '/v1/decisions', client.publishable, {
        placement: 'lobby',
      })
    ).body;
  expect(await request()).toMatchObject({ status: 'no_fill', reason: 'killed' });
  await remove(`/v1/kill-switches/${body.id}`);
  expect((await request()).status).toBe('filled');
});
