import type { Creative, DecisionCreative, Problem, Source } from '@trueward/protocol/wire';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { inline, mp4, tags, tracking, vast } from '../unit/vast/fixtures.ts';
import { type Client, createClient } from './client.ts';
import { type MediaOrigin, startMediaOrigin } from './media-origin.ts';
import { createPanelClient, type PanelClient, signInAs, signInOwner } from './panel-client.ts';
import { ownRows } from '../neighbor.ts';

interface Trial {
  verdict: string;
  ms?: number;
  vast_error?: number;
  exchanges: {
    method: string;
    url: string;
    final_url?: string;
    body?: string;
    headers: Record<string, string>;
    secret_headers: string[];
    http_status?: number;
    failure?: string;
    text?: string;
  }[];
  steps: { step: string }[];
  notices: { kind: string; url: string }[];
  ad?: { advertiser?: string; price_micros: number; trackers: { event: string; url: string }[] };
  creative?: DecisionCreative;
  review?: string;
}

interface Health {
  hours: { hour: string; requests: number; bids: number; wins: number; errors: number }[];
  latency_ms?: { p50: number; p95: number; p99: number };
  open_hosts: string[];
}

let runningService: InProcessService;
let origin: MediaOrigin;
let panel: PanelClient;
let viewer: PanelClient;
let game: Client;
beforeAll(async () => {
  runningService = await startInProcess({ RATE_LIMITS: 'off' });
  origin = await startMediaOrigin();
  panel = await signInOwner(runningService);
  viewer = await signInAs(runningService, panel, 'viewer');
  game = createClient(runningService);
});
afterAll(async () => {
  await runningService.stop();
  await origin.stop();
});

const createdIds: string[] = [];
afterEach(async () => {
  for (const id of createdIds.splice(0))
    await panel.send('PATCH', `/v1/sources/${id}`, { status: 'paused' });
});

async function addSource(members: object): Promise<Source> {
  const { status, body } = await panel.send<Source & { detail?: string }>('POST', '/v1/sources', {
    name: `Network ${createdIds.length}`,
    kind: 'vast',
    placements: ['revive'],
    priority: 1,
    timeout_ms: 500,
    cpm_micros: 2_000_000,
    ...members,
  });
  expect(body.detail).toBeUndefined();
  expect(status).toBe(201);
  createdIds.push(body.id);
  return body;
}
const addTestSource = (outcome: string) =>
  addSource({ tag_url: `https://test-source.invalid/vast?outcome=${outcome}` });
const runTrial = async ({ id }: Pick<Source, 'id'>, body: object = {}): Promise<Trial> => {
  const response = await panel.send<Trial & Problem>('POST', `/panel/api/sources/${id}/try`, {
    placement: 'revive',
    ...body,
  });
  expect(response.body.detail).toBeUndefined();
  return response.body;
};
const findCreative = async ({ id }: Source): Promise<Creative | undefined> => {
  const { body } = await panel.send<{ data: Creative[] }>('GET', '/v1/creatives?limit=100');
  return body.data.find(({ source_id: sourceId }) => sourceId === id);
};
const countRows = async (table: string): Promise<number> => {
  const [row] = await runningService.service.database.query<{ count: number }>(
    `SELECT count(*)::bigint AS count FROM ${table} WHERE ${ownRows}`,
  );
  return row?.count ?? 0;
};

test("a trial shows a source's ad without storing or counting anything", async () => {
  const source = await addTestSource('wrapper');
  const tables = ['decisions', 'rollup_counts', 'tracker_requests', 'decision_demand'];
  const countsBefore = await Promise.all(tables.map(countRows));
  const trial = await runTrial(source);
  expect(trial.verdict).toBe('creative_pending');
  expect(trial.exchanges.map(({ method, http_status: status }) => `${method} ${status}`)).toEqual([
    'GET 200',
    'GET 200',
  ]);
  expect(trial.exchanges[0]?.text).toContain('<VASTAdTagURI>');
  expect(trial.steps.map(({ step }) => step)).toContain('wrapper');
  expect(trial.ad).toMatchObject({ price_micros: 2_000_000 });
  expect(trial.ad?.trackers.map(({ event }) => event)).toEqual(
    expect.arrayContaining(['impression', 'start', 'complete']),
  );
  expect(trial.creative).toBeUndefined();
  expect(await Promise.all(tables.map(countRows))).toEqual(countsBefore);
  expect(await findCreative(source)).toBeUndefined();
  const { body: audit } = await panel.send<{ data: { action: string; target_id: string }[] }>(
    'GET',
    '/v1/audit-entries?limit=20',
  );
  expect(audit.data.find(({ action }) => action === 'source.tried')?.target_id).toBe(source.id);
});

test('a trial can submit an unknown creative for review', async () => {
  const source = await addTestSource('fill');
  await runTrial(source);
  expect(await findCreative(source)).toBeUndefined();
  await runTrial(source, { submit: true });
  await expect.poll(() => findCreative(source), { timeout: 20_000 }).toBeDefined();
  const pendingTrial = await runTrial(source);
  expect(pendingTrial).toMatchObject({ verdict: 'not_approved', review: 'pending_review' });
  expect(pendingTrial.creative?.media).toMatchObject({ format: 'video' });
  const creative = await findCreative(source);
  await panel.send('POST', `/v1/creatives/${creative?.id}/review`, { status: 'approved' });
  expect(await runTrial(source)).toMatchObject({ verdict: 'chosen', review: 'approved' });
});

test.each([
  ['no_bid', 'no_bid', 303],
  ['error', 'source_error: The response has status 500; expected 200 or 204.', 301],
  ['invalid', 'refused: ', 100],
  ['timeout', 'timeout', 301],
])(
  'a trial of a source whose outcome is %s shows why there is no ad',
  async (outcome, verdict, code) => {
    const trial = await runTrial(await addTestSource(outcome));
    expect(trial.verdict).toContain(verdict);
    expect(trial.vast_error).toBe(code);
    expect(trial.ad).toBeUndefined();
    expect(trial.exchanges).toHaveLength(1);
  },
);

test('a trial shows exchanges without the values of secret headers', async () => {
  origin.serve('/moved', (_request, response) => {
    response.writeHead(302, { location: '/tag' }).end();
  });
  let receivedKey: string | undefined;
  origin.serve('/tag', (request, response) => {
    receivedKey = request.headers['x-api-key'] as string;
    response.end(
      vast(
        inline({
          body: tags('Impression', `${origin.url}/impression`),
          media: mp4('', `${origin.url}/ad.mp4`),
          tracking: tracking('complete', `${origin.url}/complete`),
        }),
      ),
    );
  });
  const source = await addSource({
    tag_url: `${origin.url}/moved`,
    request_headers: { 'X-Api-Key': 'top-secret' },
  });
  const trial = await runTrial(source);
  expect(receivedKey).toBe('top-secret');
  expect(trial.exchanges[0]).toMatchObject({
    url: `${origin.url}/moved`,
    final_url: `${origin.url}/tag`,
  });
  expect(trial.exchanges[0]?.secret_headers.join().toLowerCase()).toBe('x-api-key');
  expect(JSON.stringify(trial)).not.toContain('top-secret');
  expect(origin.requests).not.toContain('/impression');
});

test('a trial of a bidder shows the bid request and the notices', async () => {
  const source = await addSource({
    kind: 'openrtb',
    endpoint_url: 'https://test-source.invalid/openrtb?outcome=fill',
    cpm_micros: undefined,
    floor_micros: 1_500_000,
  });
  const trial = await runTrial(source);
  const [exchange] = trial.exchanges;
  expect(exchange?.method).toBe('POST');
  expect(JSON.parse(exchange?.body ?? '')).toMatchObject({ imp: [{ bidfloor: 1.5 }] });
  expect(trial.notices.map(({ kind }) => kind)).toContain('loss');
});

test('a trial of a stopped source does not send any requests', async () => {
  const source = await addTestSource('fill');
  const { body: killSwitch } = await panel.send<{ id: string }>('POST', '/v1/kill-switches', {
    scope: 'source',
    target_id: source.id,
    state: 'on',
  });
  const trial = await runTrial(source);
  expect(trial.exchanges).toEqual([]);
  expect(trial.verdict).toBe('killed');
  await panel.send('DELETE', `/v1/kill-switches/${killSwitch.id}`);
});

test('trials require an operator, an external source and an existing placement', async () => {
  const { id } = await addTestSource('fill');
  const send = async (client: PanelClient, path: string, body: object) => {
    const response = await client.send('POST', `/panel/api/sources/${path}/try`, body);
    return `${response.status} ${response.body.code}`;
  };
  const body = { placement: 'revive' };
  expect(await send(viewer, id, body)).toBe('403 role_not_permitted');
  expect(await send(panel, 'src_unknown', body)).toBe('404 not_found');
  expect(await send(panel, id, { placement: 'nowhere' })).toBe('404 placement_not_found');
  expect(await send(createPanelClient(runningService.url), id, body)).toContain('401');
  const { body: houseSource } = await panel.send<Source>('POST', '/v1/sources', {
    name: 'House',
    kind: 'house',
  });
  expect(await send(panel, houseSource.id, body)).toBe('422 invalid_request');
});

test('an account can have at most four trials in progress', async () => {
  const source = await addTestSource('timeout');
  const statuses = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const path = `/panel/api/sources/${source.id}/try`;
      return (await panel.send('POST', path, { placement: 'revive' })).status;
    }),
  );
  expect(statuses.filter((status) => status === 200)).toHaveLength(4);
  expect(statuses.filter((status) => status === 429)).toHaveLength(2);
});

test('source health shows hourly counts, latency percentiles and hosts with an open circuit', async () => {
  let status = 200;
  origin.serve('/health', (_request, response) => {
    response.writeHead(status).end('<VAST version="4.2"/>');
  });
  const source = await addSource({ tag_url: `${origin.url}/health` });
  let playerCount = 0;
  const decide = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1) {
      playerCount += 1;
      const body = { placement: 'revive', user_ref: `health-${playerCount}` };
      await game.call('POST', '/v1/decisions', game.publishable, body);
    }
  };
  const readHealth = async (): Promise<Health> =>
    (await viewer.send<Health>('GET', `/panel/api/sources/${source.id}/health`)).body;
  expect((await readHealth()).latency_ms).toBeUndefined();
  await decide(8);
  status = 500;
  await decide(12);
  const { hours, latency_ms: latencyMs, open_hosts: openHosts } = await readHealth();
  expect(hours).toHaveLength(24);
  const sum = (name: 'requests' | 'bids' | 'errors') =>
    hours.reduce((total, hour) => total + hour[name], 0);
  // The circuit opens after the eighth failure. Attempts that are not sent count as errors but not as requests.
  expect([sum('requests'), sum('bids'), sum('errors')]).toEqual([16, 0, 12]);
  expect(latencyMs?.p50).toBeGreaterThan(0);
  expect(latencyMs?.p99).toBeGreaterThanOrEqual(latencyMs?.p50 ?? Infinity);
  expect(openHosts).toEqual([new URL(origin.url).host]);
});
