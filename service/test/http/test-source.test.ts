import type { Creative, Explanation, Problem, Source } from '@trueward/protocol/wire';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type FilledDecision, type Game, startGame } from './reward-game.ts';

const pollOptions = { timeout: 20_000 };

let game: Game;
beforeAll(async () => {
  game = await startGame();
});
afterAll(() => game.stop());

const createdIds: string[] = [];
afterEach(async () => {
  for (const id of createdIds.splice(0))
    await game.client.manage('PATCH', `/v1/sources/${id}`, { status: 'paused' });
});

type Kind = 'vast' | 'openrtb';
const createUrl = (kind: Kind, outcome: string) => ({
  [kind === 'vast' ? 'tag_url' : 'endpoint_url']:
    `https://test-source.invalid/${kind}?outcome=${outcome}`,
});
async function addSource(kind: Kind, outcome: string, placements = ['revive']): Promise<Source> {
  const source = await game.client.manage<Source>('POST', '/v1/sources', {
    name: `${kind} ${outcome}`,
    kind,
    ...createUrl(kind, outcome),
    placements,
    priority: 1,
    timeout_ms: 200,
    review: 'automatic',
    allowed_domains: ['test-advertiser.example'],
    ...(kind === 'vast' ? { cpm_micros: 2_000_000 } : { floor_micros: 1_500_000 }),
  });
  createdIds.push(source.id);
  return source;
}

let playerCount = 0;
async function decide(): Promise<FilledDecision> {
  playerCount += 1;
  return (
    await game.requestDecision({ user_ref: `player ${playerCount}`, formats: ['video', 'image'] })
  ).body;
}
const findExplanation = ({ explain }: FilledDecision, { id }: Source): Explanation | undefined =>
  explain?.find(({ source_id: sourceId }) => sourceId === id);

async function findCreative({ id }: Source): Promise<Creative | undefined> {
  const { data } = await game.client.manage<{ data: Creative[] }>('GET', '/v1/creatives?limit=100');
  return data.find(({ source_id: sourceId }) => sourceId === id);
}

test.each([
  ['vast', 'fill'],
  ['vast', 'wrapper'],
  ['openrtb', 'fill'],
  ['openrtb', 'wrapper'],
] as const)(
  'a %s source with the outcome %s returns an ad that can be reviewed and rewarded',
  async (kind, outcome) => {
    const source = await addSource(kind, outcome);
    expect(findExplanation(await decide(), source)?.verdict).toBe('creative_pending');
    await expect
      .poll(async () => (await findCreative(source))?.review.status, pollOptions)
      .toBe('approved');
    // The service first copies the creative and then refreshes its configuration.
    await game.service.configuration.refresh();

    // A creative can be listed before the configuration contains it.
    await expect
      .poll(async () => findExplanation(await decide(), source)?.verdict, pollOptions)
      .toBe('chosen');
    const decision = await decide();
    expect(decision.creative?.advertiser).toBe('Test advertiser');
    expect(JSON.stringify(decision.creative?.media)).toContain('http://service.test/media/');
    await game.report(game.createEvent(decision, 'start'));
    game.advance(12_500);
    const impression = game.createEvent(decision, 'impression', {
      visible: { ratio: 1, ms: 2_000 },
    });
    const complete = game.createEvent(decision, 'complete', { watched_ms: 12_000 });
    const { decisions } = await game.report(impression, complete);
    expect(decisions[0]?.state).toBe('earned');

    const trackers = ['impression/0', 'start/0', 'complete/0'];
    if (outcome === 'wrapper') trackers.push('impression/1');
    if (kind === 'openrtb') trackers.push('notice/0', 'burl/0');
    const readSentTrackers = async () => {
      const rows = await game.service.database.query<{ tracker: string; state: string }>(
        'SELECT tracker, state FROM tracker_requests WHERE decision_id = $1',
        [decision.id],
      );
      return rows.filter(({ state }) => state === 'sent').map(({ tracker }) => tracker);
    };
    await expect
      .poll(async () => (await readSentTrackers()).toSorted(), pollOptions)
      .toEqual(trackers.toSorted());
  },
);

test.each([
  ['vast', 'no_bid', { verdict: 'no_bid', vast_error: 303 }],
  ['vast', 'timeout', { verdict: 'timeout' }],
  ['vast', 'error', { verdict: expect.stringMatching(/^source_error/), http_status: 500 }],
  ['vast', 'invalid', { verdict: expect.stringMatching(/^refused/), vast_error: 100 }],
  ['openrtb', 'no_bid', { verdict: 'no_bid', http_status: 204 }],
  ['openrtb', 'timeout', { verdict: 'timeout' }],
  ['openrtb', 'error', { verdict: expect.stringMatching(/^source_error/), http_status: 500 }],
  ['openrtb', 'invalid', { verdict: expect.stringMatching(/^source_error/), http_status: 200 }],
  ['openrtb', 'below_floor', { verdict: 'below_floor', http_status: 200 }],
] as const)(
  'a house ad is served if a %s source has the outcome %s',
  async (kind, outcome, expected) => {
    const source = await addSource(kind, outcome);
    // The test source has no circuit breaker, so repeated failures do not change the outcome.
    for (let attempt = 0; attempt < (outcome === 'error' ? 12 : 1); attempt += 1) {
      const decision = await decide();
      expect(decision.status).toBe('filled');
      expect(decision.creative?.advertiser).toBeUndefined();
      expect(findExplanation(decision, source)).toMatchObject(expected);
    }
  },
);

test('the test source fills a placement in the demo account', async () => {
  const { body } = await game.requestDecision({
    placement: 'treasure',
    user_ref: 'newcomer',
    formats: ['video'],
  });
  expect(body.explain).toMatchObject([{ name: 'Test network', verdict: 'chosen' }]);
  expect(body.creative?.advertiser).toBe('Test advertiser');
  expect(body.reward).toEqual({ type: 'coins', amount: 40 });
});

test('creating a source for a banner placement fails', async () => {
  const { status, body } = await game.client.call<Problem>(
    'POST',
    '/v1/sources',
    game.client.secret,
    { name: 'Test', kind: 'vast', ...createUrl('vast', 'fill'), placements: ['revive', 'lobby'] },
  );
  expect(status).toBe(422);
  expect(body.errors).toEqual([
    {
      pointer: '/placements/1',
      message: 'is a banner placement; this is for rewarded and interstitial placements',
    },
  ]);
});

test('a source is skipped after its placement has become a banner', async () => {
  const { configuration, database } = game.service;
  const source = await addSource('vast', 'fill', []);
  await database.query(
    `UPDATE resources SET document = jsonb_set(document, '{placements}', '["lobby"]') WHERE id = $1`,
    [source.id],
  );
  // This update increments the configuration version without validating unchanged fields.
  await game.client.manage('PATCH', `/v1/sources/${source.id}`, { name: 'Renamed' });
  await configuration.refresh();
  const { body } = await game.requestDecision({ placement: 'lobby', formats: ['video', 'image'] });
  expect(body.status).toBe('filled');
  expect(findExplanation(body, source)?.verdict).toBe('refused: not for banner placements');
});

test('the error for an unknown outcome lists the known outcomes', async () => {
  const create = (kind: Kind, outcome: string) =>
    game.client.call<Problem>('POST', '/v1/sources', game.client.secret, {
      name: 'Test',
      kind,
      ...createUrl(kind, outcome),
    });
  const { status, body } = await create('vast', 'below_floor');
  expect(status).toBe(422);
  expect(body.errors).toEqual([
    { pointer: '/tag_url', message: expect.stringContaining('fill, wrapper, no_bid') },
  ]);
  expect((await create('openrtb', '')).status).toBe(422);
});

test('the live environment has no test source', async () => {
  const { status, body } = await game.client.call<Problem>(
    'POST',
    '/v1/sources',
    game.keys.live.secret,
    { name: 'Test', kind: 'vast', ...createUrl('vast', 'fill') },
  );
  expect(status).toBe(422);
  expect(body.errors?.[0]?.message).toBe(
    'is the built-in test source, which is for the sandbox only',
  );
});

test('source metrics do not contain names or ids', async () => {
  const text = await (await fetch(`${game.url}/metrics`)).text();
  const readValue = (series: string): number =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.split(' ')[1],
    );
  for (const [kind, outcomes] of Object.entries({
    vast: ['offer', 'no_bid', 'timeout', 'source_error', 'refused'],
    openrtb: ['offer', 'no_bid', 'timeout', 'source_error', 'below_floor'],
  }))
    for (const outcome of outcomes)
      expect(
        readValue(
          `trueward_source_request_duration_seconds_count{kind="${kind}",outcome="${outcome}"}`,
        ),
      ).toBeGreaterThan(0);
  expect(readValue('trueward_intake_creatives_total{result="copied"}')).toBeGreaterThan(3);
  expect(readValue('trueward_intake_jobs{of="waiting"}')).toBe(0);
  expect(
    readValue('trueward_tracker_requests_total{outcome="sent",reason=""}'),
  ).toBeGreaterThanOrEqual(12);
  expect(readValue('trueward_tracker_requests_pending')).toBeGreaterThanOrEqual(0);
  expect(readValue('trueward_tracker_overdue_seconds')).toBeGreaterThanOrEqual(0);
  expect(text).not.toMatch(/src_|test-source|test-advertiser/);
});
