import type { ApiKey, AuditEntry, MistakeList, Problem } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pino } from 'pino';
import { parseKey } from '../../../src/platform/key-format.ts';
import { startKeyUsage } from '../../src/access/key-usage.ts';
import type { Environment, KeyKind } from '../../src/access/principal.ts';
import { systemClock } from '../../src/platform/time.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { type Client, createClient } from './client.ts';

let runningService: InProcessService;
let client: Client;
beforeAll(async () => {
  runningService = await startInProcess();
  client = createClient(runningService);
});
afterAll(() => runningService.stop());

const createKey = (body: object, creator = client) =>
  creator.call<ApiKey>('POST', '/v1/keys', creator.secret, body);
const readStatus = async (key: string | undefined) =>
  (await client.call('GET', '/v1/placements', key)).status;

test('a key can be created, rolled with an overlap and revoked', async () => {
  const { status, body: createdKey } = await createKey({ kind: 'secret' });
  expect(status).toBe(201);
  expect(createdKey.key?.slice(-4)).toBe(createdKey.last_four);
  expect(await readStatus(createdKey.key)).toBe(200);
  const list = await client.call<{ data: ApiKey[] }>('GET', '/v1/keys', client.secret);
  const { key: _key, ...listedKey } = createdKey;
  expect(list.body.data).toContainEqual(listedKey);
  expect(JSON.stringify(list.body)).not.toContain(createdKey.key);

  const path = `/v1/keys/${createdKey.id}`;
  const successor = await client.call<ApiKey>('POST', `${path}/roll`, client.secret, {
    overlap_s: 60,
  });
  expect(successor.body.id).not.toBe(createdKey.id);
  expect([await readStatus(createdKey.key), await readStatus(successor.body.key)]).toEqual([
    200, 200,
  ]);
  const oldKey = await client.call<ApiKey>('GET', path, client.secret);
  expect(Date.parse(oldKey.body.revoked_at ?? '')).toBeGreaterThan(Date.now());
  // A longer overlap doesn't postpone the end that is set already.
  await client.call('POST', `${path}/roll`, client.secret, { overlap_s: 86_400 });
  const { body: rolledAgain } = await client.call<ApiKey>('GET', path, client.secret);
  expect(rolledAgain.revoked_at).toBe(oldKey.body.revoked_at);

  expect((await client.call('DELETE', path, client.secret)).status).toBe(204);
  expect([await readStatus(createdKey.key), await readStatus(successor.body.key)]).toEqual([
    401, 200,
  ]);
  const repeatedRoll = await client.call<Problem>('POST', `${path}/roll`, client.secret, {
    overlap_s: 0,
  });
  expect([repeatedRoll.status, repeatedRoll.body.code]).toEqual([409, 'conflict']);
});

test('a rolled publishable key keeps the id of its game; a new key and a secret key do not', async () => {
  const roll = ({ id }: ApiKey) =>
    client.call<ApiKey>('POST', `/v1/keys/${id}/roll`, client.secret, { overlap_s: 60 });
  const gameOf = ({ body }: { body: ApiKey }) => parseKey(body.key ?? '')?.gameId;
  const first = await createKey({ kind: 'publishable' });
  const second = await roll(first.body);
  const third = await roll(second.body);
  expect(gameOf(first)).toMatch(/^\w{10}$/);
  expect([gameOf(second), gameOf(third)]).toEqual([gameOf(first), gameOf(first)]);
  expect(gameOf(await createKey({ kind: 'publishable' }))).not.toBe(gameOf(first));
  const secret = await createKey({ kind: 'secret' });
  expect((await roll(secret.body)).body.key).toMatch(/^sk_sandbox_[0-9A-Za-z]{36}$/);
});

test('a key has a name, and a publishable key can be looked up again', async () => {
  const read = async (id: string) =>
    (await client.call<ApiKey>('GET', `/v1/keys/${id}`, client.secret)).body;
  for (const kind of ['publishable', 'secret'] as const) {
    const { body: created } = await createKey({ kind, name: 'The game' });
    expect(await read(created.id)).toMatchObject({ name: 'The game', kind });
    expect((await read(created.id)).key).toBe(kind === 'secret' ? undefined : created.key);
    const path = `/v1/keys/${created.id}`;
    await client.call('PATCH', path, client.secret, { rate_limit: { per_s: 1, burst: 2 } });
    expect((await read(created.id)).name).toBe('The game');
    await client.call('PATCH', path, client.secret, { name: 'The old game' });
    expect(await read(created.id)).toMatchObject({
      name: 'The old game',
      rate_limit: { burst: 2 },
    });
    // A client may send no body if all its members are optional, with or without a type.
    for (const headers of [{}, { 'content-type': 'application/json' }]) {
      const { status, body } = await client.call<ApiKey>(
        'POST',
        `${path}/roll`,
        client.secret,
        undefined,
        headers,
      );
      expect([status, body.name]).toEqual([201, 'The old game']);
    }
  }
  expect((await createKey({ kind: 'secret', name: '   ' })).status).toBe(422);
});

test('rolling without an overlap revokes the old key immediately', async () => {
  const { body: createdKey } = await createKey({ kind: 'secret' });
  await client.call('POST', `/v1/keys/${createdKey.id}/roll`, client.secret, { overlap_s: 0 });
  expect(await readStatus(createdKey.key)).toBe(401);
});

test('a publishable key works only from its allowed origins', async () => {
  const live = createClient(runningService, 'live');
  expect((await createKey({ kind: 'publishable' }, live)).status).toBe(422);
  expect((await createKey({ kind: 'secret', allowed_origins: ['*'] })).status).toBe(422);
  const { body: createdKey } = await createKey(
    { kind: 'publishable', allowed_origins: ['https://game.example'] },
    live,
  );
  const request = async (origin: string) =>
    (
      await live.call<Problem>(
        'POST',
        '/v1/decisions',
        createdKey.key,
        { placement: 'lobby' },
        { origin },
      )
    ).body;
  expect(await request('https://game.example')).toMatchObject({ status: 'filled' });
  expect((await request('https://other.example')).code).toBe('origin_not_allowed');
  await live.call('PATCH', `/v1/keys/${createdKey.id}`, live.secret, {
    allowed_origins: ['https://Other.example:443'],
  });
  expect(await request('https://other.example')).toMatchObject({ status: 'filled' });
  expect((await client.call('GET', `/v1/keys/${createdKey.id}`, client.secret)).status).toBe(404);
});

test('each secret key that is used on a web page is recorded in the audit log', async () => {
  const keys = [await createKey({ kind: 'secret' }), await createKey({ kind: 'secret' })];
  for (const { body: createdKey } of keys) {
    const response = await client.call<Problem>('GET', '/v1/keys', createdKey.key, undefined, {
      origin: 'https://game.example',
    });
    expect([response.status, response.body.code]).toEqual([403, 'secret_key_in_browser']);
    const { body } = await client.call<{ data: AuditEntry[] }>(
      'GET',
      `/v1/audit-entries?target_id=${createdKey.id}`,
      client.secret,
    );
    expect(body.data[0]).toMatchObject({
      action: 'key.used_in_browser',
      after: { origin: 'https://game.example' },
      request_id: response.body.request_id,
    });
  }
});

test('paging lists each key of the environment once, newest first', async () => {
  const list = async (query: string) =>
    (
      await client.call<{ data: ApiKey[]; next_cursor?: string }>(
        'GET',
        `/v1/keys?${query}`,
        client.secret,
      )
    ).body;
  const { data: keys } = await list('limit=100');
  const pages: ApiKey[] = [];
  let cursor: string | undefined = '';
  while (cursor !== undefined) {
    const page = await list(`limit=2${cursor === '' ? '' : `&starting_after=${cursor}`}`);
    pages.push(...page.data);
    cursor = page.next_cursor;
  }
  expect(keys.length).toBeGreaterThan(4);
  expect(new Set(keys.map(({ environment }) => environment))).toEqual(new Set(['sandbox']));
  expect(pages).toEqual(keys);
  expect(keys.map(({ id }) => id)).toEqual(
    keys
      .map(({ id }) => id)
      .toSorted()
      .toReversed(),
  );
});

test('when a key was used last, and on which wrong site, is recorded for this key only', async () => {
  const live = createClient(runningService, 'live');
  const origins = { allowed_origins: ['https://game.example', 'http://localhost:5173'] };
  const create = async (creator: Client, kind: 'publishable' | 'secret') =>
    (
      await createKey(
        { kind, name: `${kind} ${Math.random()}`, ...(kind === 'publishable' && origins) },
        creator,
      )
    ).body;
  const sandboxKey = await create(client, 'publishable');
  const goodKey = await create(client, 'publishable');
  const unusedKey = await create(client, 'publishable');
  const serverKey = await create(client, 'secret');
  const liveKey = await create(live, 'publishable');
  const { database } = runningService.service;
  const [row] = await database.query<{ accountId: string }>(
    'SELECT account_id AS "accountId" FROM keys WHERE id = $1',
    [sandboxKey.id],
  );
  const accountId = row?.accountId ?? '';
  const usage = startKeyUsage(database, systemClock, pino({ level: 'silent' }));
  const touch = ({ id }: ApiKey, environment: Environment, kind: KeyKind, origin?: string) =>
    usage.touch({ accountId, environment, kind, keyId: id, allowedOrigins: ['*'] }, origin);
  touch(sandboxKey, 'sandbox', 'pk', 'https://game.example');
  touch(sandboxKey, 'sandbox', 'pk', 'http://localhost:5173');
  touch(goodKey, 'sandbox', 'pk', 'http://localhost:5173');
  touch(serverKey, 'sandbox', 'sk', 'https://game.example');
  touch(liveKey, 'live', 'pk', 'http://localhost:5173');
  for (let index = 0; index < 12; index += 1)
    usage.note(
      { accountId, environment: 'live', kind: 'pk', keyId: liveKey.id, allowedOrigins: ['*'] },
      { userRef: 'guest', device: `phone ${index}`, playersOnDevice: 4, waitingRewards: 1 },
    );
  await usage.stop();

  const readLastUse = async (reader: Client, { id }: ApiKey) =>
    (await reader.call<ApiKey>('GET', `/v1/keys/${id}`, reader.secret)).body.last_used_at;
  expect(await readLastUse(client, unusedKey)).toBeUndefined();
  for (const key of [sandboxKey, goodKey, serverKey])
    expect(await readLastUse(client, key)).toBeDefined();
  const readMistakes = async (reader: Client) =>
    (await reader.call<MistakeList>('GET', '/v1/mistakes', reader.secret)).body.data.map(
      ({ name, evidence }) => `${name}: ${evidence}`,
    );
  expect(await readMistakes(client)).toEqual([
    `sandbox_key_on_public_site: The sandbox key ${sandboxKey.name} is used on https://game.example.`,
  ]);
  expect(await readMistakes(live)).toEqual([
    'shared_user_ref: One user_ref was used on 12 devices. 0 decisions name 0 players.',
    'new_user_ref_each_time: 12 of 12 ad requests came from devices that had named three or more players within a day.',
    `live_key_on_development_server: The live key ${liveKey.name} is used on http://localhost:5173.`,
    'rewards_not_taken: 12 of 12 ad requests came from devices on which earned rewards have waited for the game for more than a minute.',
  ]);
});
