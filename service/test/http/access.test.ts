import type { Decision, Placement, Problem } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeGameId, makePublishableKeyText } from '../../src/access/key-store.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { type Client, createClient } from './client.ts';

let service: InProcessService;
let client: Client;
beforeAll(async () => {
  service = await startInProcess();
  client = createClient(service);
});
afterAll(() => service.stop());

/** The resources that a secret key can create, read, list, update and delete. */
const resources =
  'placements sources advertisers creatives house-ads policies ad-rules kill-switches webhooks'.split(
    ' ',
  );

/** Every path in the contract. */
const contractPaths = [
  '/v1/decisions',
  '/v1/decisions/{id}',
  '/v1/events',
  '/v1/reports',
  '/v1/audit-entries',
  '/v1/creatives/{id}/review',
  '/v1/keys',
  '/v1/keys/{id}',
  '/v1/keys/{id}/roll',
  '/v1/webhooks/{id}/rotate_secret',
  '/v1/webhooks/{id}/test',
  '/v1/webhooks/{id}/deliveries',
  '/v1/webhooks/{id}/recover',
  '/v1/webhook-events',
  '/v1/webhook-health',
  '/v1/jobs',
  '/v1/mistakes',
  '/v1/jobs/{id}',
  '/v1/jobs/{id}/cancel',
  '/v1/deliveries/{id}',
  '/v1/deliveries/{id}/redeliver',
  ...resources.flatMap((name) => [`/v1/${name}`, `/v1/${name}/{id}`]),
];

const revive = { placement: 'revive', user_ref: 'u' };

test.each([
  ['no key', () => undefined, 401, 'authentication_required', /^Send the header/],
  ['text that is not a key', () => 'hello', 401, 'key_malformed', /^Not an API key/],
  [
    'a mistyped key',
    () => client.publishable.slice(0, -1) + (client.publishable.endsWith('a') ? 'b' : 'a'),
    401,
    'key_malformed',
    /checksum is wrong/,
  ],
  [
    'an unknown key',
    () => makePublishableKeyText('sandbox', makeGameId()),
    401,
    'key_unknown',
    /does not exist/,
  ],
] as [string, () => string | undefined, number, string, RegExp][])(
  'a request with %s is rejected',
  async (_name, key, status, code, detail) => {
    const response = await client.call<Problem>('POST', '/v1/decisions', key(), revive);
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    expect(response.body).toMatchObject({
      code,
      status,
      detail: expect.stringMatching(detail) as string,
      request_id: response.headers.get('request-id'),
    });
  },
);

test('publishable keys cannot manage resources, and secret keys cannot report events', async () => {
  const list = await client.call<Problem>('GET', '/v1/placements', client.publishable);
  expect([list.status, list.body.code]).toEqual([403, 'key_not_permitted']);
  const events = await client.call<Problem>('POST', '/v1/events', client.secret, {
    sent_at: '',
    events: [],
  });
  expect([events.status, events.body.code]).toEqual([403, 'key_not_permitted']);
});

test('every route rejects a secret key sent from a web page', async () => {
  for (const [method, path, body] of [
    ['POST', '/v1/decisions', revive],
    ['GET', '/v1/placements', undefined],
  ] as const) {
    const response = await client.call<Problem>(method, path, client.secret, body, {
      origin: 'https://game.example',
    });
    expect([response.status, response.body.code]).toEqual([403, 'secret_key_in_browser']);
  }
});

test('a web page can request decisions and read problem documents', async () => {
  const headers = { origin: 'https://game.example' };
  const preflight = await client.call('OPTIONS', '/v1/decisions', undefined, undefined, {
    ...headers,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization, content-type',
  });
  expect(preflight.status).toBe(204);
  const allowed = preflight.headers.get('access-control-allow-headers')?.split(', ');
  // A page's own `fetch` may add headers, such as a tracing library's.
  expect(allowed).toEqual(expect.arrayContaining(['Authorization', 'Content-Type', '*']));
  expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
  // So it is for every route with a publishable key, and for no other.
  const paths = ['events', 'decisions/dec_1', 'wallet', 'wallet/spends', 'wallet/transfers'];
  for (const path of [...paths, 'players', 'players/link', 'players/link-codes'])
    expect((await client.call('OPTIONS', `/v1/${path}`)).status).toBe(204);
  expect((await client.call('OPTIONS', '/v1/placements')).status).toBe(405);
  for (const key of [client.publishable, undefined]) {
    const response = await client.call('POST', '/v1/decisions', key, revive, headers);
    expect(response.headers.get('access-control-allow-origin')).toBe('https://game.example');
    expect(response.headers.get('access-control-expose-headers')).toContain('Request-Id');
  }
  const list = await client.call('GET', '/v1/placements', client.publishable, undefined, headers);
  expect(list.headers.get('access-control-allow-origin')).toBeNull();
});

test.each([
  ['{"placement":', 400, 'malformed_json', undefined],
  ['', 422, 'invalid_request', '/placement'],
  ['{"user_ref":"u"}', 422, 'invalid_request', '/placement'],
  ['{"placement":"revive"}', 422, 'player_required', undefined],
  ['{"placement":"revive","user_ref":"u","coins":1}', 422, 'invalid_request', '/coins'],
  ['{"placement":"revive","user_ref":7}', 422, 'invalid_request', '/user_ref'],
  [
    '{"placement":"revive","user_ref":"u","custom_data":"\\u0000"}',
    422,
    'invalid_request',
    '/custom_data',
  ],
  ['{"placement":"nowhere"}', 404, 'placement_not_found', undefined],
  [
    JSON.stringify({ placement: 'revive', custom_data: 'x'.repeat(65_536) }),
    413,
    'body_too_large',
    undefined,
  ],
])('the body %.40s is rejected with %i %s', async (body, status, code, pointer) => {
  const response = await client.call<Problem>('POST', '/v1/decisions', client.publishable, body);
  expect([response.status, response.body.code, response.body.errors?.[0]?.pointer]).toEqual([
    status,
    code,
    pointer,
  ]);
});

test.each(['de', 'zh-Hant-TW', 'de_DE', 'en-US@posix'])(
  'a player with the system locale %s gets an ad',
  async (locale) => {
    const body = { ...revive, locale };
    const response = await client.call<Decision>('POST', '/v1/decisions', client.publishable, body);
    expect([response.status, response.body.status]).toEqual([200, 'filled']);
  },
);

test('unsupported content types, methods and paths each have their own problem code', async () => {
  const form = await client.call<Problem>('POST', '/v1/decisions', client.publishable, 'a=b', {
    'content-type': 'application/x-www-form-urlencoded',
  });
  expect([form.status, form.body.code]).toEqual([415, 'unsupported_media_type']);
  const patch = await client.call<Problem>('PATCH', '/v1/decisions', client.publishable);
  expect([patch.status, patch.body.code, patch.headers.get('allow')]).toEqual([
    405,
    'method_not_allowed',
    'OPTIONS, POST',
  ]);
  const unknownPath = await client.call<Problem>('GET', '/v1/nowhere', client.secret);
  expect([unknownPath.status, unknownPath.body.code]).toEqual([404, 'not_found']);
});

test('the live environment rejects a request with `simulate`', async () => {
  const live = createClient(service, 'live');
  const response = await live.call<Problem>('POST', '/v1/decisions', live.publishable, {
    ...revive,
    simulate: 'no_fill',
  });
  expect([response.status, response.body.code]).toEqual([400, 'simulate_in_live']);
});

test('a simulated error is an error, and a simulated slow answer comes later than others', async () => {
  const own = await startInProcess();
  const { decide } = createClient(own);
  const error = await decide({ ...revive, simulate: 'error' });
  expect([error.status, (error.body as unknown as Problem).code]).toEqual([500, 'simulated_error']);
  let isAnswered = false;
  const slow = decide({ ...revive, simulate: 'slow' }).then(() => (isAnswered = true));
  for (let others = 0; others < 3; others += 1) expect((await decide(revive)).status).toBe(200);
  expect(isAnswered).toBe(false);
  // It doesn't hold the service up either.
  await own.stop();
  await slow;
});

test('a decision is not accessible from the other environment', async () => {
  const live = createClient(service, 'live');
  const decision = await client.decideImage('crossing');
  const { body } = await live.report(live.createEvent(decision, 'start'));
  expect(body.results).toMatchObject([{ status: 'rejected', code: 'environment_mismatch' }]);
  const path = `/v1/decisions/${decision.id}`;
  const withToken = await live.call<Problem>('GET', path, live.publishable, undefined, {
    'decision-token': decision.token,
  });
  expect([withToken.status, withToken.body.code]).toEqual([403, 'environment_mismatch']);
  expect((await live.call('GET', path, live.secret)).status).toBe(404);
  expect((await client.call('GET', path, client.secret)).status).toBe(200);
});

test('reading a decision with a publishable key requires the decision token', async () => {
  const [ownDecision, otherDecision] = [
    await client.decideImage('mine'),
    await client.decideImage('other'),
  ];
  const read = (token?: string) =>
    client.call<Problem>(
      'GET',
      `/v1/decisions/${ownDecision.id}`,
      client.publishable,
      undefined,
      token === undefined ? {} : { 'decision-token': token },
    );
  expect((await read(ownDecision.token)).status).toBe(200);
  for (const token of [undefined, otherDecision.token, `${ownDecision.token}x`]) {
    expect((await read(token)).body.code).toBe('token_invalid');
  }
});

test('the placement list is paginated', async () => {
  interface Page {
    data: Placement[];
    has_more: boolean;
    next_cursor?: string;
  }
  const read = (query: string) =>
    client.call<Page>('GET', `/v1/placements?${query}`, client.secret);
  const firstPage = await read('limit=4');
  const secondPage = await read(`limit=4&starting_after=${firstPage.body.next_cursor}`);
  expect([firstPage.body.has_more, secondPage.body.has_more]).toEqual([true, false]);
  const names = [...firstPage.body.data, ...secondPage.body.data].map(({ name }) => name);
  expect(names.toSorted()).toEqual([
    'double-coins',
    'double-sparks',
    'earn-gems',
    'level-end',
    'lobby',
    'revive',
    'treasure',
  ]);
  expect(await read('limit=0')).toMatchObject({
    status: 422,
    body: { detail: 'The query string is not valid.' },
  });
});

test('media files support range requests, and HTML creatives are sandboxed', async () => {
  const get = (file: string, headers: Record<string, string> = {}) =>
    fetch(`${service.url}/media/${file}`, { headers });
  const range = await get('meadow.mp4', { range: 'bytes=0-99' });
  expect([
    range.status,
    range.headers.get('content-type'),
    (await range.arrayBuffer()).byteLength,
  ]).toEqual([206, 'video/mp4', 100]);
  expect(range.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
  expect((await get('meadow.mp4', { range: 'bytes=99999999-' })).status).toBe(416);
  expect((await get('lantern.html')).headers.get('content-security-policy')).toMatch(
    /^sandbox allow-scripts;/,
  );
  for (const path of ['..%2fpackage.json', 'make.mjs', 'nothing.png'])
    expect((await get(path)).status).toBe(404);
});

test('the OpenAPI document describes every route in the contract, with named schemas', async () => {
  const { body } = await client.call<{
    openapi: string;
    paths: Record<string, object>;
    components: { schemas: object };
  }>('GET', '/openapi.json');
  expect(body.openapi).toBe('3.1.0');
  const paths = Object.keys(body.paths);
  expect(paths).toEqual(expect.arrayContaining(contractPaths));
  expect(paths.filter((path) => !path.startsWith('/v1/'))).toEqual([]);
  expect(body.components.schemas).toHaveProperty('DecisionRequest');
  const references = [
    ...JSON.stringify(body).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g),
  ].map((match) => match[1]);
  expect(references.filter((name) => !(String(name) in body.components.schemas))).toEqual([]);
});
