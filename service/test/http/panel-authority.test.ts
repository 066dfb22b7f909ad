import type { Problem } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertUser } from '../../src/access/user.ts';
import { createObjects } from '../fuzz/objects.ts';
import { type Operation, listOperations, readOpenApi } from '../fuzz/operations.ts';
import { createSampler, type Sampler } from '../fuzz/sample.ts';
import { listRoutes } from '../hostile/routes.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createPanelClient, type PanelClient, signInAs, signInOwner } from './panel-client.ts';

let runningService: InProcessService;
let owner: PanelClient;
let operator: PanelClient;
let viewer: PanelClient;
let otherAccountOwner: PanelClient;
let ids: Record<string, string>;
let sampler: Sampler;
/** The operations that require a secret key. */
let operations: Operation[];
beforeAll(async () => {
  runningService = await startInProcess({ RATE_LIMITS: 'off' });
  const document = await readOpenApi(runningService.url);
  sampler = createSampler(document.components.schemas);
  operations = listOperations(document).filter(({ keys }) => keys.includes('secret'));
  ids = await createObjects(runningService);
  owner = await signInOwner(runningService);
  viewer = await signInAs(runningService, owner, 'viewer');
  operator = await signInAs(runningService, owner, 'operator');
  otherAccountOwner = await createOtherAccountOwner();
});
afterAll(() => runningService.stop());

/** Signs in the owner of another account. */
async function createOtherAccountOwner(): Promise<PanelClient> {
  const { database, makeId, users } = runningService.service;
  const accountId = makeId('account');
  await database.query(
    'INSERT INTO accounts (account_id, name, created_at) VALUES ($1, $2, now())',
    [accountId, 'Strangers'],
  );
  const user = { accountId, id: makeId('user'), email: 'stranger@example.com' };
  await insertUser(database, { ...user, name: 'S', role: 'owner', password: null, createdAtMs: 0 });
  const client = createPanelClient(runningService.url);
  await client.setUp(await users.links.make(database, user), user.email);
  return client;
}

/** Sends a valid request as this user. */
function send(client: PanelClient, { method, path, body, parameters }: Operation, headers = {}) {
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name, schema }) => `${name}=${String(sampler.sample(schema))}`);
  const pathAndQuery = `${path.replace('{id}', ids[path.split('/')[2] ?? ''] ?? '')}?${query.join('&')}`;
  return client.send<Problem>(method, pathAndQuery, body && sampler.sample(body), headers);
}

/** Sends a request for each operation. Returns one line per response: operation, status and problem code. */
async function request(
  client: PanelClient,
  selectedOperations: readonly Operation[],
  headers = {},
): Promise<string[]> {
  const responses: string[] = [];
  for (const operation of selectedOperations) {
    const { status, body } = await send(client, operation, headers);
    responses.push(`${operation.id} ${status} ${body?.code ?? ''}`.trim());
  }
  return responses;
}

/** Returns the panel's routes, such as `POST /panel/api/users`. */
const listPanelRoutes = (): { method: string; path: string }[] =>
  listRoutes(runningService.service.app)
    .map((route) => route.split(' '))
    .map(([method = '', path = '']) => ({ method, path }))
    .filter(({ path }) => path.startsWith('/panel/api/'));

const isWrite = ({ method }: { method: string }) => method !== 'GET';

/** Reads all data that a panel user might change. */
async function readState(): Promise<unknown> {
  const { database } = runningService.service;
  const readRows = (table: string, columns = '*') =>
    database.query(`SELECT ${columns} FROM ${table} ORDER BY account_id, 2`);
  return [
    await readRows('resources'),
    await readRows('keys', 'account_id, id, allowed_origins, revoked_at'),
    await readRows('secrets'),
    await readRows('deliveries', 'account_id, id'),
    await readRows('users', 'account_id, id, role, password, codes_active'),
    await readRows('audit_entries', 'account_id, id'),
  ];
}

/** Routes that every user may call. They affect only the user's own settings or have no side effects. */
const unrestrictedRoutes = [
  'DELETE /panel/api/account/codes',
  'DELETE /panel/api/session',
  'POST /panel/api/account/codes',
  'POST /panel/api/account/codes/confirm',
  'POST /panel/api/account/password',
  'POST /panel/api/policies/try',
  'POST /panel/api/session',
  'POST /panel/api/session/confirmation',
  'POST /panel/api/setup',
];

test('a viewer cannot change anything', async () => {
  const stateBefore = await readState();
  // A panel session cannot request ads, regardless of the user's role.
  const writes = operations.filter(isWrite).filter(({ id }) => id !== 'requestDecision');
  expect(writes.length).toBeGreaterThan(30);
  expect(await request(viewer, writes)).toEqual(
    writes.map(({ id }) => `${id} 403 role_not_permitted`),
  );
  const panelWrites = listPanelRoutes().filter(isWrite);
  const rejectedRoutes: string[] = [];
  for (const { method, path } of panelWrites) {
    if (unrestrictedRoutes.includes(`${method} ${path}`)) continue;
    const { status, body } = await viewer.send(method, path.replace(':id', 'usr_1'), {});
    rejectedRoutes.push(`${method} ${path} ${status} ${body.code}`);
  }
  expect(rejectedRoutes.toSorted()).toEqual(
    [
      'DELETE /panel/api/users/:id',
      'PATCH /panel/api/users/:id',
      'POST /panel/api/media',
      'POST /panel/api/sources/:id/try',
      'POST /panel/api/users',
      'POST /panel/api/users/:id/link',
    ].map((route) => `${route} 403 role_not_permitted`),
  );
  expect(panelWrites).toHaveLength(rejectedRoutes.length + unrestrictedRoutes.length);
  expect(await readState()).toEqual(stateBefore);
});

test('a viewer can read everything except users', async () => {
  const reads = operations.filter(({ method }) => method === 'GET');
  const responses = await request(viewer, reads);
  // Reports are rejected because the generated times are no period.
  expect(responses.filter((response) => !response.endsWith(' 200'))).toEqual([
    'exportPlayer 403 role_not_permitted',
    'readReport 422 invalid_request',
    'readWalletReport 422 invalid_request',
    'readPlayerWallet 403 role_not_permitted',
    'listWalletEntries 403 role_not_permitted',
  ]);
  expect((await viewer.send('GET', '/panel/api/users')).body.code).toBe('role_not_permitted');
});

test('an operator can change everything except keys, secrets and users', async () => {
  const headers = { 'if-match': '"-1"' };
  const responses = await request(operator, operations.filter(isWrite), headers);
  expect(responses.filter((response) => response.endsWith('role_not_permitted'))).toEqual(
    [
      'setSourceCallback',
      'removeSourceCallback',
      'createWebhook',
      'rotateWebhookSecret',
      'erasePlayer',
      'createKey',
      'updateKey',
      'revokeKey',
      'rollKey',
      'createUserTokenSecret',
      'setGrantBudget',
      'setRetention',
    ].map((id) => `${id} 403 role_not_permitted`),
  );
  expect((await operator.send('POST', '/panel/api/users', {})).body.code).toBe(
    'role_not_permitted',
  );
});

test('the panel API returns no server errors for invalid input', async () => {
  const bodies = [
    'null',
    '[]',
    '{',
    '"text"',
    '{"email":{"$ne":1},"password":["a"]}',
    '{"email":"a\\u0000@b","password":"\\ud800","token":"x","name":"n","role":"god"}',
    `{"email":"${'a'.repeat(70_000)}"}`,
    '{"__proto__":{"role":"owner"}}',
    '{"request":{"placement":"revive","user_ref":"u"},"policy":{"name":"n","kind":"policy","block":{}}}',
  ];
  const malformedValues = ['usr_1', '%00', '%ff', "' OR 1=1 --", 'a'.repeat(3_000)];
  const malformedIds = bodies.map(
    (_, index) => malformedValues[index % malformedValues.length] ?? '',
  );
  const failures: string[] = [];
  for (const { method, path } of listPanelRoutes()) {
    if (`${method} ${path}` === 'DELETE /panel/api/session') continue;
    for (const [index, id] of malformedIds.entries()) {
      const pathAndQuery = `${path.replace(':id', id)}?name=${id}&token=${id}&limit=${id}`;
      const body = method === 'GET' ? undefined : bodies[index];
      const { status } = await owner.send(method, pathAndQuery, body, {
        'content-type': 'application/json',
      });
      if (status >= 500) failures.push(`${method} ${pathAndQuery} ${body} ${status}`);
    }
  }
  expect(failures).toEqual([]);
  expect((await owner.send('GET', '/panel/api/session')).status).toBe(200);
});

test('only the sign-in and setup routes work without a session', async () => {
  const signedOutClient = createPanelClient(runningService.url);
  const protectedRoutes: string[] = [];
  for (const { method, path } of listPanelRoutes()) {
    if (/\/(setup|session|single-sign-on(\/\w+)?)$/.test(path) && method !== 'DELETE') continue;
    const { status } = await signedOutClient.send(method, path.replace(':id', 'usr_1'));
    if (status === 401) protectedRoutes.push(`${method} ${path}`);
  }
  expect(protectedRoutes).toHaveLength(listPanelRoutes().length - 7);
  const writes = operations.filter(isWrite);
  expect(await request(signedOutClient, writes)).toEqual(
    writes.map(({ id }) => `${id} 401 authentication_required`),
  );
});

test('a session cannot request ads or report events', async () => {
  for (const path of ['/v1/decisions', '/v1/events']) {
    const { status, body } = await owner.send('POST', path, { placement: 'lobby' });
    expect([path, status, body.code]).toEqual([path, 401, 'authentication_required']);
  }
});

test('a request must specify its environment', async () => {
  for (const environment of [undefined, 'production', 'live, sandbox'])
    for (const path of ['/v1/placements', '/panel/api/decisions']) {
      const response = await owner.send('GET', path, undefined, {
        'trueward-environment': environment,
      });
      expect([path, response.status]).toEqual([path, 422]);
    }
});

test('objects in other environments and accounts are not found', async () => {
  const withId = operations.filter(({ path }) => path.includes('{id}'));
  const reads = withId.filter(({ method }) => method === 'GET');
  expect(await request(owner, reads)).toEqual(reads.map(({ id }) => `${id} 200`));
  const notFoundResponses = withId.map(({ id }) => `${id} 404 not_found`);
  expect(await request(owner, withId, { 'trueward-environment': 'live' })).toEqual(
    notFoundResponses,
  );
  expect(await request(otherAccountOwner, withId)).toEqual(notFoundResponses);

  const { body } = await owner.send<{ user: { id: string } }>('GET', '/panel/api/session');
  for (const path of [
    `/panel/api/decisions/${ids['decisions']}`,
    `/panel/api/users/${body.user.id}`,
  ]) {
    expect((await owner.send('GET', path)).status).toBe(200);
    expect((await otherAccountOwner.send('GET', path)).status).toBe(404);
  }
  for (const method of ['PATCH', 'DELETE'])
    expect(
      (await otherAccountOwner.send(method, `/panel/api/users/${body.user.id}`, {})).status,
    ).toBe(404);
});

test('lists do not contain objects from other environments or accounts', async () => {
  const lists = operations.filter(({ method, path }) => method === 'GET' && !path.includes('{id}'));
  const ownIds = new Set(Object.values(ids));
  const findShownIds = async (client: PanelClient, headers = {}) => {
    let text = '';
    for (const list of lists) text += JSON.stringify((await send(client, list, headers)).body);
    for (const path of ['/panel/api/decisions', '/panel/api/users'])
      text += JSON.stringify((await client.send('GET', path, undefined, headers)).body);
    return [...ownIds, 'owner@example.com'].filter((id) => text.includes(id));
  };
  expect((await findShownIds(owner)).length).toBeGreaterThan(ownIds.size - 3);
  expect(await findShownIds(otherAccountOwner)).toEqual([]);
  // Users belong to the account, not to an environment.
  expect(await findShownIds(owner, { 'trueward-environment': 'live' })).toEqual([
    'owner@example.com',
  ]);
});

test('a user has a last sign-in only after the first one', async () => {
  const readUser = async (id: string) =>
    (await owner.send<{ last_sign_in_at?: string }>('GET', `/panel/api/users/${id}`)).body;
  const invited = await owner.send<{ id: string }>('POST', '/panel/api/users', {
    email: 'invited@example.com',
    name: 'Invited',
    role: 'viewer',
  });
  expect(await readUser(invited.body.id)).not.toHaveProperty('last_sign_in_at');
  const { id } = await signInAs(runningService, owner, 'viewer');
  const { last_sign_in_at: at = '' } = await readUser(id);
  expect(new Date(at).getFullYear()).toBeGreaterThan(2025);
});
