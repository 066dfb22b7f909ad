import type { Problem } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isAllowed } from '../../panel/src/session/roles.ts';
import { confirmedForMs } from '../../src/access/powers.ts';
import { listRoutes } from '../hostile/routes.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createManualClock, type ManualClock } from '../manual-clock.ts';
import { type Client, createClient } from './client.ts';
import { createPanelClient, type PanelClient, signInAs, signInOwner } from './panel-client.ts';

let clock: ManualClock;
let running: InProcessService;
let keys: Client;
/** Signed in more than ten minutes ago. */
let stale: PanelClient;
/** Another device that has the cookie of an owner's session, but not the password, which it has tried to guess. */
let stolen: PanelClient;
let stolenCookie: string | undefined;
let owner: PanelClient;
let operator: PanelClient;
let viewer: PanelClient;
beforeAll(async () => {
  clock = createManualClock(Date.now());
  running = await startInProcess({ RATE_LIMITS: 'off' }, { clock });
  keys = createClient(running);
  const first = await signInOwner(running);
  stale = await signInAs(running, first, 'owner');
  stolenCookie = (await signInAs(running, first, 'owner')).cookie();
  stolen = createPanelClient(running.url);
  await stolen.send('GET', '/panel/api/session', undefined, { cookie: stolenCookie });
  clock.advance(confirmedForMs);
  owner = createPanelClient(running.url);
  await owner.signIn('owner@example.com');
  operator = await signInAs(running, owner, 'operator');
  viewer = await signInAs(running, owner, 'viewer');
});
afterAll(() => running.stop());

/**
 * Who may call a route: the lowest role (`-` for no session), whether a recent password is needed, and the keys. `live`
 * stands for secret keys of the live environment.
 */
type Rule =
  `${'viewer' | 'operator' | 'owner' | '-'}${' power' | ''} ${'sk' | 'live' | 'pk' | 'sk,pk' | '-'}`;

const lists = (path: string) => ({ [`GET ${path.replace('/v1/', '/panel/api/')}`]: 'viewer -' });
const reads = (path: string) => ({
  [`GET ${path}`]: 'viewer sk',
  [`GET ${path}/:id`]: 'viewer sk',
  ...lists(path),
});
const writes = (path: string) => ({
  ...reads(path),
  [`POST ${path}`]: 'operator sk',
  [`PATCH ${path}/:id`]: 'operator sk',
  [`DELETE ${path}/:id`]: 'operator sk',
});

const table: Record<string, Rule> = {
  ...(writes('/v1/placements') as Record<string, Rule>),
  ...(writes('/v1/sources') as Record<string, Rule>),
  'POST /v1/sources/:id/callback': 'owner power sk',
  'DELETE /v1/sources/:id/callback': 'owner power sk',
  ...(writes('/v1/advertisers') as Record<string, Rule>),
  ...(writes('/v1/creatives') as Record<string, Rule>),
  'POST /v1/creatives/:id/review': 'operator sk',
  ...(writes('/v1/house-ads') as Record<string, Rule>),
  ...(writes('/v1/policies') as Record<string, Rule>),
  ...(writes('/v1/ad-rules') as Record<string, Rule>),
  ...(writes('/v1/kill-switches') as Record<string, Rule>),
  ...(reads('/v1/webhooks') as Record<string, Rule>),
  'POST /v1/webhooks': 'owner power sk',
  'PATCH /v1/webhooks/:id': 'operator power sk',
  'DELETE /v1/webhooks/:id': 'operator power sk',
  'POST /v1/webhooks/:id/rotate_secret': 'owner power sk',
  'POST /v1/webhooks/:id/test': 'operator sk',
  'POST /v1/webhooks/:id/recover': 'operator sk',
  'DELETE /v1/users/:user_ref': 'owner power sk',
  'GET /v1/users/:user_ref/export': 'owner power sk',
  'GET /v1/wallets/:player_ref': 'operator sk',
  'GET /v1/wallets/:player_ref/entries': 'operator sk',
  'POST /v1/wallets/:player_ref/grants': 'operator power sk',
  'POST /v1/wallets/:player_ref/link-codes': 'operator power sk',
  'DELETE /v1/wallets/:player_ref/devices': 'operator power sk',
  'GET /v1/jobs': 'viewer sk',
  'GET /v1/mistakes': 'viewer sk',
  'GET /v1/jobs/:id': 'viewer sk',
  'POST /v1/jobs/:id/cancel': 'operator sk',
  'GET /v1/webhooks/:id/deliveries': 'viewer sk',
  'GET /v1/deliveries/:id': 'viewer sk',
  'POST /v1/deliveries/:id/redeliver': 'operator sk',
  'GET /v1/webhook-events': 'viewer sk',
  'GET /v1/webhook-health': 'viewer sk',
  'GET /v1/keys': 'viewer sk',
  'GET /v1/keys/:id': 'viewer sk',
  'POST /v1/keys': 'owner power sk',
  'PATCH /v1/keys/:id': 'owner power sk',
  'DELETE /v1/keys/:id': 'owner power sk',
  'POST /v1/keys/:id/roll': 'owner power sk',
  'POST /v1/user_token_secrets': 'owner power sk',
  'GET /v1/audit-entries': 'viewer sk',
  'GET /v1/reports': 'viewer sk',
  'GET /v1/wallet-reports': 'viewer sk',
  'GET /v1/grant-budgets': 'viewer sk',
  'PUT /v1/grant-budgets/:type': 'owner power sk',
  'GET /v1/usage': 'viewer sk',
  'GET /v1/retention': 'viewer sk',
  'PUT /v1/retention': 'owner power live',
  'POST /v1/decisions': '- sk,pk',
  'GET /v1/decisions/:id': 'viewer sk,pk',
  'POST /v1/events': '- pk',
  'POST /v1/players': '- pk',
  'POST /v1/players/link': '- pk',
  'POST /v1/players/link-codes': '- pk',
  'GET /v1/wallet': '- pk',
  'POST /v1/wallet/spends': '- pk',
  'POST /v1/wallet/transfers': '- pk',
  'GET /panel/api/session': 'viewer -',
  'POST /panel/api/session/confirmation': 'viewer -',
  // These two change the user's own credentials with the password in the body, which is checked every time.
  'POST /panel/api/account/password': 'viewer -',
  'DELETE /panel/api/account/codes': 'viewer -',
  'POST /panel/api/account/codes': 'viewer power -',
  'POST /panel/api/account/codes/confirm': 'viewer power -',
  'GET /panel/api/users': 'owner -',
  'GET /panel/api/users/:id': 'owner -',
  'POST /panel/api/users': 'owner power -',
  'POST /panel/api/users/:id/link': 'owner power -',
  'PATCH /panel/api/users/:id': 'owner power -',
  'DELETE /panel/api/users/:id': 'owner power -',
  'GET /panel/api/decisions': 'viewer -',
  'GET /panel/api/decisions/:id': 'viewer -',
  'GET /panel/api/top': 'viewer -',
  'POST /panel/api/policies/try': 'viewer -',
  'POST /panel/api/media': 'operator -',
  'POST /panel/api/sources/:id/try': 'operator -',
  'GET /panel/api/sources/:id/health': 'viewer -',
  // Last, because it ends the session.
  'DELETE /panel/api/session': 'viewer -',
};

/** Routes that need no credentials: what they receive is one, such as a password or a link. */
const open = [
  'POST /panel/api/session',
  'GET /panel/api/setup',
  'POST /panel/api/setup',
  'GET /panel/api/single-sign-on',
  'GET /panel/api/single-sign-on/start',
  'GET /panel/api/single-sign-on/callback',
  'GET /v1/source-callbacks/:id',
  'POST /v1/source-callbacks/:id',
];

type Response = { status: number; body: Problem | undefined };

/** Describes whether the guard let a request pass. Every other problem comes from the handler. */
const describe = ({ status, body }: Response): string =>
  status === 401 || status === 403 ? String(body?.code) : 'passes';

const roleRanks = { viewer: 0, operator: 1, owner: 2 } as const;

function expectSession(rule: Rule, role: keyof typeof roleRanks, isStale = false): string {
  const [requiredRole = '-'] = rule.split(' ');
  if (requiredRole === '-') return 'authentication_required';
  if (roleRanks[role] < roleRanks[requiredRole as keyof typeof roleRanks])
    return 'role_not_permitted';
  return isStale && rule.includes(' power') ? 'confirmation_required' : 'passes';
}

function expectKey(rule: Rule, kind: 'sk' | 'pk'): string {
  const accepted = rule.split(' ').at(-1) ?? '-';
  if (accepted === '-') return 'authentication_required';
  // The keys below are of the sandbox.
  if (accepted === 'live') return kind === 'sk' ? 'environment_mismatch' : 'key_not_permitted';
  return accepted.split(',').includes(kind) ? 'passes' : 'key_not_permitted';
}

test('every route has a row', () => {
  expect(listRoutes(running.service.app).toSorted()).toEqual(
    [...Object.keys(table), ...open].toSorted(),
  );
});

test('every route lets exactly those pass that the table names', async () => {
  const guess = { password: 'a guessed password' };
  const guessed = await stolen.send('POST', '/panel/api/session/confirmation', guess, {
    cookie: stolenCookie,
  });
  expect(guessed.status).toBe(422);
  const rows: unknown[] = [];
  const expectedRows: unknown[] = [];
  for (const [route, rule] of Object.entries(table)) {
    const [method = '', pattern = ''] = route.split(' ');
    // A decision that doesn't exist is a matter of its token; it must not be confused with the guard.
    const path = pattern.replace(':id', 'xxx_1');
    const body = method === 'GET' ? undefined : {};
    const bySession = (client: PanelClient) => client.send(method, path, body);
    const byKey = (key: string) => keys.call<Problem>(method, path, key, body);
    rows.push([
      route,
      describe(await bySession(owner)),
      describe(await bySession(stale)),
      describe(await stolen.send(method, path, body, { cookie: stolenCookie })),
      describe(await bySession(operator)),
      describe(await bySession(viewer)),
      describe(await bySession(createPanelClient(running.url))),
      describe(await byKey(keys.secret)),
      pattern === '/v1/decisions/:id' ? 'passes' : describe(await byKey(keys.publishable)),
    ]);
    expectedRows.push([
      route,
      expectSession(rule, 'owner'),
      expectSession(rule, 'owner', true),
      expectSession(rule, 'owner', true),
      expectSession(rule, 'operator'),
      expectSession(rule, 'viewer'),
      'authentication_required',
      expectKey(rule, 'sk'),
      expectKey(rule, 'pk'),
    ]);
  }
  expect(rows).toEqual(expectedRows);
});

test('the panel offers each role exactly the changes that the service accepts', () => {
  const actions = { POST: 'create', PATCH: 'edit', DELETE: 'delete' } as const;
  const offered: unknown[] = [];
  const accepted: unknown[] = [];
  for (const [route, rule] of Object.entries(table)) {
    const [, method, resource] =
      /^(POST|PATCH|DELETE) \/(?:v1|panel\/api)\/([^/]+)(?:\/:id)?$/.exec(route) ?? [];
    const isListed = ['/panel/api', '/v1'].some((root) => `GET ${root}/${resource}` in table);
    // A session isn't a list, and everybody ends their own.
    if (resource === undefined || resource === 'session' || !isListed || rule.startsWith('-'))
      continue;
    const action = actions[method as keyof typeof actions];
    for (const role of ['viewer', 'operator', 'owner'] as const) {
      offered.push([role, route, isAllowed(role, resource, action)]);
      accepted.push([role, route, expectSession(rule, role) === 'passes']);
    }
  }
  expect(offered.length).toBeGreaterThan(60);
  expect(offered).toEqual(accepted);
});

test('a stolen session without the password stays without powers', async () => {
  const victim = await signInAs(running, await reopenOwner(), 'owner');
  clock.advance(confirmedForMs);
  const link = () => victim.send('POST', `/panel/api/users/${victim.id}/link`);
  const confirm = (password: string) =>
    victim.send('POST', '/panel/api/session/confirmation', { password });
  expect((await link()).body.code).toBe('confirmation_required');
  expect((await confirm('a guessed password')).status).toBe(422);
  expect((await link()).body.code).toBe('confirmation_required');
  expect((await confirm('correct horse battery staple')).status).toBe(204);
  expect((await link()).status).toBe(201);
});

async function reopenOwner(): Promise<PanelClient> {
  const client = createPanelClient(running.url);
  await client.signIn('owner@example.com');
  return client;
}

test('the actor comes from the session or the key alone', async () => {
  const client = createPanelClient(running.url);
  await client.signIn('owner@example.com');
  const stop = { scope: 'placement', target_id: 'revive', state: 'off' };
  const send = (body: object) => client.send('POST', '/v1/kill-switches', body);
  for (const forged of [{ actor: 'owner@example.com' }, { on_behalf_of: 'Ada' }])
    expect((await send({ ...stop, ...forged })).status).toBe(422);
  const labelled = await keys.manage<Record<string, string>>('POST', '/v1/kill-switches', {
    ...stop,
    on_behalf_of: 'Ada',
  });
  expect([labelled['actor']?.slice(0, 4), labelled['on_behalf_of']]).toEqual(['key_', 'Ada']);
  const { body } = await client.send<Record<string, string>>(
    'PATCH',
    `/v1/kill-switches/${labelled['id']}`,
    { reason: 'Checked' },
  );
  expect([body['actor'], body['on_behalf_of']]).toEqual(['owner@example.com', undefined]);
});

test('a person may belong to several accounts, and an invitation tells nobody', async () => {
  const { database, makeId, users } = running.service;
  const accountId = makeId('account');
  await database.query(
    'INSERT INTO accounts (account_id, name, created_at) VALUES ($1, $2, now())',
    [accountId, 'Second'],
  );
  const scope = { accountId, environment: 'live' as const };
  const invite = () =>
    database.transaction((queries) =>
      users.manager.invite(
        { queries, scope, actor: 'test' },
        { email: 'owner@example.com', name: 'F', role: 'viewer' },
      ),
    );
  const { linkToken } = await invite();
  await expect(invite()).rejects.toMatchObject({ code: 'conflict' });
  const client = createPanelClient(running.url);
  expect((await client.setUp(linkToken, 'owner@example.com')).body.account.id).toBe(accountId);
  expect((await client.signIn('owner@example.com')).body.code).toBe('account_required');
  const chosen = await client.send<{ account: { id: string } }>('POST', '/panel/api/session', {
    email: 'owner@example.com',
    password: 'correct horse battery staple',
    account: accountId,
  });
  expect(chosen.body.account.id).toBe(accountId);
});

test('guesses for invented e-mail addresses do not lock out a colleague behind the same IP', async () => {
  for (let guess = 0; guess < 25; guess += 1)
    await createPanelClient(running.url).signIn(`invented-${guess}@example.com`);
  const { status } = await createPanelClient(running.url).send('POST', '/panel/api/session', {
    email: 'owner@example.com',
    password: 'correct horse battery staple',
    account: 'acc_unknown',
  });
  expect(status).toBe(401);
  const stranger = await createPanelClient(running.url).signIn('stranger@example.com');
  expect(stranger.status).toBe(429);
});

test('a secret is shown once, even if its request is repeated', async () => {
  const requests = [
    ['/v1/keys', { kind: 'secret' }, 'key'],
    ['/v1/user_token_secrets', {}, 'secret'],
    ['/v1/webhooks', { url: 'https://hooks.example/', events: ['decision.rewarded'] }, 'secret'],
  ] as const;
  for (const [path, body, member] of requests) {
    const send = () =>
      keys.call<Record<string, string>>('POST', path, keys.secret, body, {
        'idempotency-key': `once ${path}`.replaceAll(' ', '-'),
      });
    const [first, second] = [await send(), await send()];
    expect([path, first.status, second.status]).toEqual([path, 201, 201]);
    expect(typeof first.body[member]).toBe('string');
    expect({ ...second.body, [member]: first.body[member] }).toEqual(first.body);
    expect(second.body[member]).toBeUndefined();
  }
});

test('a server that repeats an ad request gets the same decision, for the device that it names', async () => {
  const request = (device: object, key: string) =>
    keys.call<{ id: string; code?: string }>(
      'POST',
      '/v1/decisions',
      keys.secret,
      { placement: 'revive', user_ref: 'server-player', device },
      { 'idempotency-key': key },
    );
  const device = { user_agent: 'Mozilla/5.0 (iPhone) Mobile', ip: '203.0.113.9', country: 'DE' };
  const [first, second] = [await request(device, 'ad-1'), await request(device, 'ad-1')];
  expect([first.status, second.body.id]).toEqual([200, first.body.id]);
  expect((await request({ ...device, country: 'FR' }, 'ad-1')).status).toBe(409);
  expect((await request({ ip: '203.0.113.9:1234' }, 'ad-2')).status).toBe(422);
  const byClient = await keys.call('POST', '/v1/decisions', keys.publishable, {
    placement: 'revive',
    user_ref: 'u',
    device,
  });
  expect(byClient.status).toBe(422);
});

test('a leaked key is revoked as soon as it is rolled', async () => {
  const create = () =>
    keys.manage<{ id: string; key: string }>('POST', '/v1/keys', { kind: 'secret' });
  const [leaked, kept] = [await create(), await create()];
  await running.service.database.query('UPDATE keys SET leaked_at = now() WHERE id = $1', [
    leaked.id,
  ]);
  for (const { id } of [leaked, kept]) await keys.manage('POST', `/v1/keys/${id}/roll`, {});
  const statuses = [];
  for (const { key } of [leaked, kept])
    statuses.push((await keys.call('GET', '/v1/placements', key)).status);
  expect(statuses).toEqual([401, 200]);
});
