import type { Problem } from '@trueward/protocol/wire';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKey } from '../../src/access/key-store.ts';
import {
  makeGameId,
  makePublishableKeyText,
  makeSecretKeyText,
} from '../../src/access/key-store.ts';
import { systemClock } from '../../src/platform/time.ts';
import { incrementConfigVersion } from '../../src/store/config-version.ts';
import { createObjects } from '../fuzz/objects.ts';
import { type OpenApi, type Operation, listOperations, readOpenApi } from '../fuzz/operations.ts';
import { createSampler, type Sampler } from '../fuzz/sample.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { type Client, createClient } from './client.ts';

let runningService: InProcessService;
let client: Client;
let document: OpenApi;
let operations: Operation[];
let sampler: Sampler;
let ids: Record<string, string>;
let otherAccountKeys: { publishable: string; secret: string };
beforeAll(async () => {
  runningService = await startInProcess({ RATE_LIMITS: 'off' });
  client = createClient(runningService);
  document = await readOpenApi(runningService.url);
  operations = listOperations(document);
  sampler = createSampler(document.components.schemas);
  ids = await createObjects(runningService);
  otherAccountKeys = await createAccount();
});
afterAll(() => runningService.stop());

/** Creates a second account, and returns its keys. */
async function createAccount() {
  const { database, makeId, configuration } = runningService.service;
  const accountId = makeId('account');
  const scope = { accountId, environment: 'sandbox' as const, allowedOrigins: ['*'] };
  const make = (kind: 'pk' | 'sk') => createKey(database, systemClock, makeId, { ...scope, kind });
  const keys = { publishable: (await make('pk')).text, secret: (await make('sk')).text };
  await incrementConfigVersion(database, accountId);
  await configuration.refresh();
  return keys;
}

/** Sends a request that is valid except for its key. */
function send({ method, path, body, parameters }: Operation, key: string | undefined) {
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name, schema }) => `${name}=${String(sampler.sample(schema))}`);
  const id = ids[path.split('/')[2] ?? ''];
  if (path.includes('{id}') && id === undefined)
    throw new Error(
      `objects.ts creates no object for ${path}. Add one so that this test can check access to it.`,
    );
  const pathAndQuery = `${path.replace('{id}', id ?? '')}?${query.join('&')}`;
  return client.call<Problem>(method, pathAndQuery, key, body && sampler.sample(body));
}

async function expectRejections(
  key: (operation: Operation) => string | undefined,
  status: number,
  code: string,
  isSelected: (operation: Operation) => boolean = () => true,
): Promise<void> {
  const selectedOperations = operations.filter(
    (operation) => operation.keys.length > 0 && isSelected(operation),
  );
  expect(selectedOperations.length).toBeGreaterThan(0);
  const responses: unknown[] = [];
  for (const operation of selectedOperations) {
    const response = await send(operation, key(operation));
    responses.push([operation.id, response.status, response.body?.code]);
  }
  expect(responses).toEqual(selectedOperations.map(({ id }) => [id, status, code]));
}

/** Returns which kind of key an operation requires. */
const requiredKeyKind = ({ keys }: Operation) =>
  keys.includes('secret') ? 'secret' : 'publishable';
const mistype = (key: string) => key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a');

test('every operation under /v1 in the OpenAPI document requires a key', async () => {
  // The validator gets a copy because it may modify its input.
  const result = await new Validator().validate({ ...structuredClone(document) });
  expect(result).toMatchObject({ valid: true });
  // An ad network proves who it is with the secret of its callback.
  const withoutKey = operations.filter(({ keys }) => keys.length === 0).map(({ id }) => id);
  expect(withoutKey).toEqual(['confirmViewByGet', 'confirmView']);
  expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
});

test('every operation rejects a request without a key', () =>
  expectRejections(() => undefined, 401, 'authentication_required'));

test('every operation rejects text that is not a key', () =>
  expectRejections(() => 'hello', 401, 'key_malformed'));

test('every operation rejects a mistyped key', () =>
  expectRejections(
    (operation) => mistype(client[requiredKeyKind(operation)]),
    401,
    'key_malformed',
  ));

test('every operation rejects an unknown key', () =>
  expectRejections(
    (operation) =>
      requiredKeyKind(operation) === 'secret'
        ? makeSecretKeyText('sandbox')
        : makePublishableKeyText('sandbox', makeGameId()),
    401,
    'key_unknown',
  ));

test('every operation rejects a revoked key', async () => {
  const make = async (kind: 'secret' | 'publishable') => {
    const { body } = await client.call<{ id: string; key: string }>(
      'POST',
      '/v1/keys',
      client.secret,
      { kind },
    );
    await client.call('DELETE', `/v1/keys/${body.id}`, client.secret);
    return body.key;
  };
  const revokedKeys = { secret: await make('secret'), publishable: await make('publishable') };
  await expectRejections(
    (operation) => revokedKeys[requiredKeyKind(operation)],
    401,
    'key_revoked',
  );
});

test('every operation rejects the wrong kind of key', async () => {
  const requiresKind = (kind: 'secret' | 'publishable') => (operation: Operation) =>
    operation.keys.length === 1 && operation.keys[0] === kind;
  await expectRejections(
    () => client.publishable,
    403,
    'key_not_permitted',
    requiresKind('secret'),
  );
  await expectRejections(
    () => client.secret,
    403,
    'key_not_permitted',
    requiresKind('publishable'),
  );
});

test('no operation can access an object in another environment or account', async () => {
  const withId = ({ path, keys }: Operation) => path.includes('{id}') && keys.includes('secret');
  await expectRejections(() => runningService.keys.live.secret, 404, 'not_found', withId);
  await expectRejections(() => otherAccountKeys.secret, 404, 'not_found', withId);
});

test('no list contains an object from another environment or account', async () => {
  const lists = operations.filter(
    ({ method, path, id }) => method === 'GET' && !path.includes('{') && id.startsWith('list'),
  );
  expect(lists.length).toBeGreaterThan(5);
  for (const list of lists) {
    const ownObjects = JSON.stringify((await send(list, client.secret)).body);
    expect(ownObjects).toContain('"data":[{');
    for (const key of [runningService.keys.live.secret, otherAccountKeys.secret]) {
      const otherObjects = JSON.stringify((await send(list, key)).body);
      expect(Object.values(ids).filter((id) => otherObjects.includes(id))).toEqual([]);
    }
  }
});
