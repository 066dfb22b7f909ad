import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { Creative, KillSwitch, Report, Source } from '@trueward/protocol/wire';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { inline, mp4, tags, tracking, vast } from '../unit/vast/fixtures.ts';
import { type MediaOrigin, startMediaOrigin } from './media-origin.ts';
import { type FilledDecision, type Game, startGame } from './reward-game.ts';

const meadow = readFileSync(
  fileURLToPath(new URL('../../../demo/creatives/dist/meadow.mp4', import.meta.url)),
);
const picture = readFileSync(
  fileURLToPath(new URL('../../../test/media/picture.png', import.meta.url)),
);
const pollOptions = { timeout: 20_000 };

let game: Game;
let origin: MediaOrigin;
let playerCount = 0;
beforeAll(async () => {
  game = await startGame();
  origin = await startMediaOrigin();
  origin.serve('/meadow.mp4', meadow);
});
afterAll(async () => {
  await game.stop();
  await origin.stop();
});

const createdIds: string[] = [];
afterEach(async () => {
  for (const id of createdIds.splice(0))
    await game.client.manage('PATCH', `/v1/sources/${id}`, { status: 'paused' });
});
let sourceCount = 0;
async function addTag(respond: RequestListener, members: Partial<Source> = {}): Promise<Source> {
  sourceCount += 1;
  origin.serve(`/tag/${sourceCount}`, respond);
  const source = await game.client.manage<Source>('POST', '/v1/sources', {
    name: `Network ${sourceCount}`,
    kind: 'vast',
    tag_url: `${origin.url}/tag/${sourceCount}?c=[CACHEBUSTING]`,
    placements: ['revive'],
    priority: 1,
    cpm_micros: 2_000_000,
    ...members,
  });
  createdIds.push(source.id);
  return source;
}
const createAd = (name: string, extraTracking = '') =>
  vast(
    inline({
      body:
        `<Advertiser>https://www.${name}.example/</Advertiser>` +
        tags('Impression', `${origin.url}/${name}/impression`),
      creative: `<UniversalAdId idRegistry="ad-id.org">${name}</UniversalAdId>`,
      media: mp4('', `${origin.url}/meadow.mp4`),
      tracking: tracking('complete', `${origin.url}/${name}/complete`) + extraTracking,
      clicks: tags('ClickThrough', `https://${name}.example/spring`),
    }),
  );
const respondWithXml =
  (text: string): RequestListener =>
  (_request, response) =>
    void response.end(text);
const requestAd = async () => {
  playerCount += 1;
  return (
    await game.requestDecision({ user_ref: `player ${playerCount}`, formats: ['video', 'image'] })
  ).body;
};
const readVerdicts = (decision: FilledDecision) =>
  Object.fromEntries((decision.explain ?? []).map(({ name, verdict }) => [name, verdict]));
const countRequests = (path: string) =>
  origin.requests.filter((requestPath) => requestPath === path).length;

/** Requests an ad, waits for the service to copy the creative, and approves it. */
async function approve(source: Source): Promise<Creative> {
  await requestAd();
  const findCreative = async () =>
    (await game.client.manage<{ data: Creative[] }>('GET', '/v1/creatives?limit=100')).data.find(
      ({ source_id }) => source_id === source.id,
    );
  await expect.poll(findCreative, pollOptions).toBeDefined();
  const creative = await findCreative();
  if (!creative) throw new Error('The creative disappeared.');
  return game.client.manage<Creative>('POST', `/v1/creatives/${creative.id}/review`, {
    status: 'approved',
  });
}

test("an approved external ad is served from the service's copy and its trackers are fired", async () => {
  const source = await addTag(respondWithXml(createAd('brook')));
  const firstDecision = await requestAd();
  expect(readVerdicts(firstDecision)['Network 1']).toBe('creative_pending');
  expect(firstDecision.creative?.advertiser).toBeUndefined();
  const creative = await approve(source);

  const decision = await requestAd();
  expect(readVerdicts(decision)['Network 1']).toBe('chosen');
  expect(decision.creative).toMatchObject({
    id: creative.id,
    advertiser: 'https://www.brook.example/',
    click_url: 'https://brook.example/spring',
    media: creative.media,
  });
  expect(decision.min_watch_ms).toBe(12_000);
  expect(JSON.stringify({ ...decision, explain: [] })).not.toContain(origin.url);

  await game.report(game.createEvent(decision, 'start'));
  game.advance(12_500);
  const impression = game.createEvent(decision, 'impression', { visible: { ratio: 1, ms: 2_000 } });
  const complete = game.createEvent(decision, 'complete', { watched_ms: 12_000 });
  const { decisions } = await game.report(impression, complete);
  expect(decisions[0]?.state).toBe('earned');
  await expect.poll(() => countRequests('/brook/complete'), pollOptions).toBe(1);
  expect(countRequests('/brook/impression')).toBe(1);

  // For a player whom an ad rule holds back, no source is called.
  const { id } = await game.client.manage<{ id: string }>('POST', '/v1/ad-rules', {
    formats: ['rewarded'],
    gap_s: 600,
  });
  const countCalls = () => origin.requests.filter((path) => path.startsWith('/tag/1')).length;
  const calls = countCalls();
  const { body } = await game.requestDecision({ user_ref: `player ${playerCount}` });
  expect([body.reason, countCalls()]).toEqual(['frequency_capped', calls]);
  expect(calls).toBeGreaterThan(0);
  await game.client.manage('DELETE', `/v1/ad-rules/${id}`);
});

test('an ad is not shown until the service has copied its icon', async () => {
  origin.serve('/choices.png', picture);
  origin.serve('/other-choices.png', picture);
  let icon = '/choices.png';
  const source = await addTag((_request, response) => {
    const icons = `<Icons><Icon program="AdChoices" width="77" height="15">
      <StaticResource creativeType="image/png">${origin.url}${icon}?cb=1</StaticResource></Icon></Icons>`;
    response.end(createAd('marked').replace('<MediaFiles>', `${icons}<MediaFiles>`));
  });
  const creative = await approve(source);
  // The icon is copied after the video and needs its own review.
  const readCreative = () => game.client.manage<Creative>('GET', `/v1/creatives/${creative.id}`);
  await expect.poll(async () => (await readCreative()).icons?.length, pollOptions).toBe(1);
  await game.client.manage('POST', `/v1/creatives/${creative.id}/review`, { status: 'approved' });
  const requestIconUrl = async () => {
    const decision = await requestAd();
    return readVerdicts(decision)[source.name] === 'chosen'
      ? decision.creative?.icon?.url
      : undefined;
  };
  await expect.poll(requestIconUrl, pollOptions).toContain('http://service.test/media/');
  icon = '/other-choices.png';
  expect(readVerdicts(await requestAd())[source.name]).toBe('creative_pending');
  // An approved creative of this source has the same icon, so the icon needs no review.
  await expect.poll(requestIconUrl, pollOptions).toContain('http://service.test/media/');
});

test('the highest price wins, regardless of the response order', async () => {
  const cheapSource = await addTag(respondWithXml(createAd('cheap')), { cpm_micros: 1_000_000 });
  await approve(cheapSource);
  const respondSlowly: RequestListener = (_request, response) =>
    void setTimeout(() => response.end(createAd('dear')), 50);
  const expensiveSource = await addTag(respondSlowly, { cpm_micros: 3_000_000 });
  await approve(expensiveSource);
  const decision = await requestAd();
  expect(readVerdicts(decision)).toMatchObject({
    [cheapSource.name]: 'outbid',
    [expensiveSource.name]: 'chosen',
  });
  const hour = (offset: number) =>
    new Date((Math.floor(game.clock.nowMs() / 3_600_000) + offset) * 3_600_000).toISOString();
  const { data } = await game.client.manage<Report>(
    'GET',
    `/v1/reports?from=${hour(-1)}&to=${hour(1)}&group_by=source`,
  );
  const findRow = (source: Source) => data.find((group) => group.source === source.id);
  expect(findRow(expensiveSource)).toMatchObject({
    source_requests: 2,
    source_bids: 2,
    source_wins: 1,
  });
  // This source won once, while the other source's creative was pending review.
  expect(findRow(cheapSource)).toMatchObject({
    source_requests: 3,
    source_wins: 1,
    source_errors: 0,
  });
});

test('an approved creative is not shown for another advertiser', async () => {
  let advertiser = 'honest';
  const source = await addTag((_request, response) => {
    response.end(createAd('honest').replace('www.honest.example/<', `www.${advertiser}.example/<`));
  });
  await approve(source);
  expect(readVerdicts(await requestAd())[source.name]).toBe('chosen');
  advertiser = 'blocked';
  expect(readVerdicts(await requestAd())[source.name]).toBe(
    'refused: The creative was reviewed for a different advertiser.',
  );
});

test('an approved creative is not shown in a category that it did not have when it was reviewed', async () => {
  let category = '';
  const source = await addTag((_request, response) => {
    response.end(createAd('changing').replace('<Creatives>', `${category}<Creatives>`));
  });
  await approve(source);
  const policy = await game.client.manage<{ id: string }>('POST', '/v1/policies', {
    name: 'No health ads',
    kind: 'brand_safety',
    block: { categories: ['IAB7'] },
    status: 'active',
  });
  expect(readVerdicts(await requestAd())[source.name]).toBe('chosen');
  for (const code of ['IAB7', 'iab07_39', 'IAB1,IAB7-1']) {
    category = tags('Category', code);
    expect(readVerdicts(await requestAd())[source.name]).toBe('brand_safety: No health ads');
  }
  category = tags('Category', 'IAB8');
  expect(readVerdicts(await requestAd())[source.name]).toBe('chosen');
  await game.client.manage('DELETE', `/v1/policies/${policy.id}`);
});

test('an ad is reviewed if its source is turned to manual reviews while its media is copied', async () => {
  const tag = createAd('turning').replace('/meadow.mp4', '/turning.mp4');
  const trusted: Partial<Source> = { review: 'automatic', allowed_domains: ['turning.example'] };
  const source = await addTag(respondWithXml(tag), trusted);
  origin.serve('/turning.mp4', (_request, response) => {
    const change = { review: 'manual' };
    void game.client
      .manage('PATCH', `/v1/sources/${source.id}`, change)
      .then(() => response.end(meadow));
  });
  await requestAd();
  const readReview = async () =>
    (await game.client.manage<{ data: Creative[] }>('GET', '/v1/creatives?limit=100')).data.find(
      ({ source_id: id }) => id === source.id,
    )?.review;
  await expect.poll(readReview, pollOptions).toEqual({ status: 'pending_review' });
});

test('a house ad is served after a hanging source times out', async () => {
  const hangingSource = await addTag(() => undefined, { timeout_ms: 100 });
  const decision = await requestAd();
  expect(decision.status).toBe('filled');
  expect(readVerdicts(decision)).toMatchObject({ [hangingSource.name]: 'timeout' });
  expect(decision.explain?.find(({ house_ad_id: id }) => id !== undefined)).toBeDefined();
});

test("one placement's hanging sources do not delay another placement", async () => {
  const hangingSource = await addTag(() => undefined, { timeout_ms: 1_000 });
  const completedRequests: string[] = [];
  const waits = Array.from({ length: 8 }, async () => {
    const decision = await requestAd();
    completedRequests.push('hanging');
    return decision;
  });
  await expect.poll(() => countRequests(`/tag/${sourceCount}`)).toBe(8);
  const { body } = await game.requestDecision({
    placement: 'double-coins',
    user_ref: 'not waiting',
  });
  completedRequests.push('house ads only');
  expect(body.status).toBe('filled');
  for (const decision of await Promise.all(waits))
    expect(readVerdicts(decision)).toMatchObject({ [hangingSource.name]: 'timeout' });
  expect(completedRequests[0]).toBe('house ads only');
});

test('source error details are visible only to operators', async () => {
  const location = 'http://10.9.8.7/inner';
  const source = await addTag((_request, response) => {
    response.writeHead(302, { location }).end();
  });
  const decision = await requestAd();
  expect(readVerdicts(decision)).toMatchObject({ [source.name]: 'source_error' });
  expect(JSON.stringify(decision)).not.toContain('10.9.8.7');
  const [storedDecision] = await game.service.database.query<{ explain: unknown }>(
    'SELECT explain FROM decisions WHERE id = $1',
    [decision.id],
  );
  expect(JSON.stringify(storedDecision?.explain)).toContain(location);
});

test('no request is sent to a source if a house ad has a higher priority', async () => {
  await addTag(respondWithXml(createAd('late')), { priority: 10 });
  const requestsBefore = countRequests(`/tag/${sourceCount}`);
  expect((await requestAd()).status).toBe('filled');
  expect(countRequests(`/tag/${sourceCount}`)).toBe(requestsBefore);
});

test('kill switches, policies and child-directed requests prevent requests to a source', async () => {
  const source = await addTag(respondWithXml(createAd('forbidden')));
  const path = `/tag/${sourceCount}`;
  const killSwitch = await game.client.manage<{ id: string }>('POST', '/v1/kill-switches', {
    scope: 'source',
    target_id: source.id,
    state: 'on',
    reason: 'test',
  });
  expect(readVerdicts(await requestAd())).toMatchObject({ [source.name]: 'killed' });
  await game.client.manage('PATCH', `/v1/kill-switches/${killSwitch.id}`, { state: 'off' });
  const policy = await game.client.manage<{ id: string }>('POST', '/v1/policies', {
    name: 'No network',
    kind: 'commercial',
    placements: ['revive'],
    when: {},
    block: { sources: [source.id] },
    status: 'active',
  });
  expect(readVerdicts(await requestAd())).toMatchObject({
    [source.name]: 'commercial: No network',
  });
  await game.client.manage('DELETE', `/v1/policies/${policy.id}`);
  const child = await game.requestDecision({
    user_ref: 'child',
    formats: ['video', 'image'],
    child_directed: true,
  });
  expect(readVerdicts(child.body)).toMatchObject({
    [source.name]: 'refused: not for child-directed requests',
  });
  expect(countRequests(path)).toBe(0);
});

test('a kill switch that is turned on while sources are called stops the ad that was chosen', async () => {
  type Target = Pick<KillSwitch, 'scope' | 'target_id'>;
  let kill: (() => Promise<unknown>) | undefined;
  const source = await addTag(
    (_request, response) => void (kill?.() ?? Promise.resolve()).then(() => response.end(tag)),
    { placements: ['revive', 'level-end'] },
  );
  let tag = createAd('stopped');
  const { advertiser_id: advertiserId } = await approve(source);
  const { data } = await game.client.manage<{ data: Creative[] }>('GET', '/v1/creatives?limit=100');
  const house = data.find(({ media, source_key: key }) => media.format === 'image' && !key);
  const request = async (target: Target, requestIt = requestAd) => {
    const killSwitches: KillSwitch[] = [];
    kill = async () =>
      killSwitches.push(
        await game.client.manage<KillSwitch>('POST', '/v1/kill-switches', {
          ...target,
          state: 'on',
        }),
      );
    const { status, reason } = await requestIt();
    kill = undefined;
    for (const { id } of killSwitches)
      await game.client.manage('DELETE', `/v1/kill-switches/${id}`);
    return [status, reason];
  };
  expect(readVerdicts(await requestAd())[source.name]).toBe('chosen');
  const targets: Target[] = [
    { scope: 'source', target_id: source.id },
    { scope: 'advertiser', target_id: advertiserId },
    { scope: 'placement', target_id: 'revive' },
  ];
  for (const target of targets) expect(await request(target)).toEqual(['no_fill', 'killed']);
  // The house ad that takes the source's place.
  tag = vast();
  expect((await requestAd()).status).toBe('filled');
  const houseTarget = { scope: 'source' as const, target_id: house?.source_id ?? '' };
  expect(await request(houseTarget)).toEqual(['no_fill', 'killed']);
  // The ad SDK in the page that has its turn after the source.
  const page = await game.client.manage<Source>('POST', '/v1/sources', {
    name: 'Ads of the page',
    kind: 'page',
    adapter: 'google_h5',
    placements: ['level-end'],
    priority: 2,
  });
  createdIds.push(page.id);
  const requestInPage = async () => {
    const { body } = await game.requestDecision({
      placement: 'level-end',
      page_adapters: ['google_h5'],
      formats: ['video', 'image'],
    });
    return body;
  };
  expect((await requestInPage()).creative?.media.format).toBe('page');
  const pageTarget = { scope: 'source' as const, target_id: page.id };
  expect(await request(pageTarget, requestInPage)).toEqual(['no_fill', 'killed']);
});

test('a policy that leaves no ad blocks the request with an event, whoever offers the ad', async () => {
  await game.client.manage('POST', '/v1/placements', {
    name: 'outside-only',
    format: 'rewarded',
    reward: { type: 'coins', amount: 5 },
  });
  const source = await addTag(respondWithXml(createAd('meadowland')), {
    placements: ['revive', 'outside-only'],
  });
  await approve(source);
  const request = async (simulate?: 'blocked') => {
    playerCount += 1;
    const { body } = await game.requestDecision({
      placement: 'outside-only',
      user_ref: `player ${playerCount}`,
      formats: ['video', 'image'],
      ...(simulate && { simulate }),
    });
    const { data } = await game.client.manage<{ data: { data: Record<string, unknown> }[] }>(
      'GET',
      '/v1/webhook-events?type=policy.blocked',
    );
    const event = data.find((item) => item.data['decision_id'] === body.id);
    return [body.status, body.reason, event?.data['rule']];
  };
  const during = async (kind: string, rule: object) => {
    const { id } = await game.client.manage<{ id: string }>('POST', kind, rule);
    const result = await request();
    await game.client.manage('DELETE', `${kind}/${id}`);
    return result;
  };
  expect(await request()).toEqual(['filled', undefined, undefined]);
  const rule = {
    name: 'Not here',
    kind: 'brand_safety',
    placements: [],
    when: {},
    status: 'active',
  };
  for (const block of [{ sources: [source.id] }, { domains: ['meadowland.example'] }])
    expect(await during('/v1/policies', { ...rule, block })).toEqual([
      'blocked',
      'brand_safety',
      { id: expect.stringMatching(/^pol_/) as string, kind: 'brand_safety', name: 'Not here' },
    ]);
  const killSwitch = { scope: 'source', target_id: source.id, state: 'on', reason: 'test' };
  expect(await during('/v1/kill-switches', killSwitch)).toEqual(['no_fill', 'killed', undefined]);
  expect(await request('blocked')).toEqual([
    'blocked',
    'policy',
    { id: expect.stringMatching(/^pol_0+$/) as string, kind: 'policy', name: 'Simulated' },
  ]);
});

test('a request without consent contains a truncated IP', async () => {
  let ip = '';
  const source = await addTag((request, response) => {
    ip = String(request.headers['x-device-ip']);
    response.end(vast());
  });
  expect(readVerdicts(await requestAd())).toMatchObject({ [source.name]: 'no_bid' });
  expect(ip).toMatch(/^(127\.0\.0\.0|::)$/);
});

test('the win notice that brings an ad is requested only for the bid that wins', async () => {
  const addBidder = (name: string, price: number) => {
    origin.serve(`/${name}/win`, createAd(name));
    origin.serve(`/${name}/loss`, '');
    const respond: RequestListener = (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { id } = JSON.parse(Buffer.concat(chunks).toString()) as { id: string };
        const notices = { nurl: `${origin.url}/${name}/win`, lurl: `${origin.url}/${name}/loss` };
        const bid = { id: name, impid: '1', price, crid: name, adomain: [`${name}.example`] };
        response.end(
          JSON.stringify({
            id,
            cur: 'USD',
            seatbid: [{ bid: [{ ...bid, mtype: 2, ...notices }] }],
          }),
        );
      });
    };
    return addTag(respond, {
      kind: 'openrtb',
      endpoint_url: `${origin.url}/tag/${sourceCount + 1}`,
      tag_url: undefined as unknown as string,
      cpm_micros: undefined as unknown as number,
    });
  };
  const low = await addBidder('stream', 3);
  const high = await addBidder('river', 5);
  const countWins = () => [countRequests('/stream/win'), countRequests('/river/win')];
  // An unknown creative must be seen once, so that it can be reviewed.
  expect(readVerdicts(await requestAd())).toMatchObject({
    [low.name]: 'creative_pending',
    [high.name]: 'creative_pending',
  });
  expect(countWins()).toEqual([1, 1]);
  await approve(low);
  await approve(high);
  const winsBefore = countWins();

  expect(readVerdicts(await requestAd())).toMatchObject({
    [low.name]: 'outbid',
    [high.name]: 'chosen',
  });
  expect(countWins()).toEqual([winsBefore[0], (winsBefore[1] ?? 0) + 1]);
  await expect.poll(() => countRequests('/stream/loss'), pollOptions).toBeGreaterThan(0);

  // A bid for a creative that must not be shown does not win either.
  const creatives = await game.client.manage<{ data: Creative[] }>(
    'GET',
    '/v1/creatives?limit=100',
  );
  const rejected = creatives.data.find(({ source_id }) => source_id === high.id);
  await game.client.manage('POST', `/v1/creatives/${rejected?.id}/review`, {
    status: 'rejected',
  });
  const winsOfHigh = countWins()[1];
  expect(readVerdicts(await requestAd())).toMatchObject({
    [low.name]: 'chosen',
    [high.name]: 'not_approved',
  });
  expect(countWins()[1]).toBe(winsOfHigh);
});
