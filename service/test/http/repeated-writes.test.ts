import type { Creative } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createObjects } from '../fuzz/objects.ts';
import { listOperations, type Operation, readOpenApi } from '../fuzz/operations.ts';
import { createSampler, type Sampler } from '../fuzz/sample.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createClient } from './client.ts';

// A server that gets no answer sends its request again. With an `Idempotency-Key`, nothing happens twice.

let running: InProcessService;
let ids: Record<string, string>;
let sampler: Sampler;
let writes: Operation[];
beforeAll(async () => {
  running = await startInProcess({ RATE_LIMITS: 'off' });
  const client = createClient(running);
  const create = async (path: string, body: object): Promise<string> =>
    (await client.manage<{ id: string }>('POST', path, body)).id;
  const network = { name: 'N', kind: 'page', adapter: 'google_h5', placements: ['revive'] };
  ids = {
    ...(await createObjects(running)),
    sources: await create('/v1/sources', network),
    placements: await create('/v1/placements', { name: 'unused', format: 'interstitial' }),
    advertisers: await create('/v1/advertisers', { name: 'A', domain: 'a.example' }),
  };
  const { data } = await client.manage<{ data: Creative[] }>('GET', '/v1/creatives');
  const [shown, other] = data;
  const { id: _id, environment: _environment, review: _review, ...creative } = shown as Creative;
  const { created_at: _created, updated_at: _updated, ...body } = creative;
  Object.assign(bodies, {
    createCreative: body,
    createHouseAd: { name: 'H', creative_id: other?.id, placements: ['revive'] },
  });
  await running.service.database.query(
    `WITH ended AS (DELETE FROM delivery_queue WHERE id = $1 RETURNING *)
      INSERT INTO finished_deliveries (account_id, id, environment, event_id, webhook_id, state, attempts, created_at)
        SELECT account_id, id, environment, event_id, webhook_id, 'failed', '[]', created_at FROM ended`,
    [ids['deliveries']],
  );
  const document = await readOpenApi(running.url);
  sampler = createSampler(document.components.schemas);
  const secret = listOperations(document).filter(({ keys }) => keys.includes('secret'));
  const isDelete = ({ method }: Operation) => method === 'DELETE';
  // What deletes comes last, and what others refer to, after these.
  writes = [
    ...secret.filter((operation) => operation.method !== 'GET' && !isDelete(operation)),
    ...secret.filter(isDelete).toReversed(),
  ];
});
afterAll(() => running.stop());

/** Bodies for operations for which the smallest valid body is refused. */
const bodies: Record<string, object> = {
  createPlacement: { name: 'new', format: 'interstitial' },
  updateSource: { name: 'Other' },
  createPolicy: { name: 'P', kind: 'policy', block: { domains: ['nowhere.example'] } },
  createAdRule: { formats: ['banner'], max_per_day: 100 },
  createKillSwitch: { scope: 'placement', target_id: 'lobby', state: 'off' },
  grant: { type: 'coins', amount: 5, reason: 'A mistake' },
};

/** Sends an operation with a key of its own, and returns what a client sees of it. */
async function send(
  { id, method, path, body, parameters }: Operation,
  environment: 'sandbox' | 'live',
) {
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name, schema }) => `${name}=${String(sampler.sample(schema))}`);
  const filled = path
    .replace('{id}', ids[path.split('/')[2] ?? ''] ?? '')
    .replace('{type}', 'gems')
    .replace(/\{(?:player|user)_ref\}/, 'ply_01h455vb4pex5vsknk084sn02q');
  const response = await fetch(`${running.url}${filled}?${query.join('&')}`, {
    method,
    headers: {
      authorization: `Bearer ${running.keys[environment].secret}`,
      'idempotency-key': `key of ${id}`.replaceAll(' ', '-'),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(bodies[id] ?? sampler.sample(body)) }),
  });
  return {
    status: response.status,
    replayed: response.headers.get('idempotency-replayed'),
    etag: response.headers.get('etag'),
    text: await response.text(),
  };
}

test('every write with a secret key happens once', async () => {
  expect(writes.length).toBeGreaterThan(40);
  const failures: string[] = [];
  for (const operation of writes) {
    const environment = operation.id === 'setRetention' ? 'live' : 'sandbox';
    const first = await send(operation, environment);
    const second = await send(operation, environment);
    if (first.status >= 300 || second.status !== first.status || second.replayed !== 'true')
      failures.push(`${operation.id} ${first.status} ${second.status} ${first.text}`);
  }
  expect(failures).toEqual([]);
});
