import type { Creative, HouseAd } from '@trueward/protocol/wire';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { createManualClock } from '../manual-clock.ts';
import { createClient } from './client.ts';
import { startGame, type FilledDecision, type Game } from './reward-game.ts';

let placementCount = 0;
let playerCount = 0;

/** Creates a rewarded placement with one image ad that has a daily cap. */
async function createCappedPlacement(game: Game, dailyCap: number): Promise<string> {
  const manage = <T>(method: string, path: string, body?: object) =>
    game.client.call<T>(method, path, game.client.secret, body);
  const { body: creatives } = await manage<{ data: Creative[] }>('GET', '/v1/creatives?limit=100');
  const image = creatives.data.find(({ media, review }) => {
    return media.format === 'image' && review.status === 'approved';
  });
  const name = `capped-${(placementCount += 1)}`;
  const reward = { type: 'coins', amount: 1 };
  await manage('POST', '/v1/placements', { name, format: 'rewarded', reward });
  const houseAd = { name, creative_id: image?.id, placements: [name], daily_cap: dailyCap };
  const response = await manage<HouseAd>('POST', '/v1/house-ads', houseAd);
  expect(response.status).toBe(201);
  return name;
}

/** Requests decisions for `count` players concurrently, alternating between the clients. Returns the filled ones. */
async function decideConcurrently(
  clients: readonly Game['client'][],
  placement: string,
  count: number,
): Promise<FilledDecision[]> {
  const responses = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const client = clients[index % clients.length];
      const request = {
        placement,
        user_ref: `player-${(playerCount += 1)}`,
        formats: ['image' as const],
      };
      return (await client?.decide(request))?.body;
    }),
  );
  for (const response of responses) {
    if (response?.status !== 'filled') expect(response).toMatchObject({ reason: 'budget' });
  }
  return responses.flatMap((response) => (response?.status === 'filled' ? response : []));
}

// Skipped on a shared server, where each process may use only its share of the cap.
describe.skipIf(process.env['TRUEWARD_TEST_SERVER'])('a daily cap on the embedded database', () => {
  let game: Game;
  beforeAll(async () => {
    game = await startGame();
  });
  afterAll(() => game.stop());
  const refresh = () => game.service.configuration.refresh();

  test('reserves an impression for each ad, so every watched ad is rewarded', async () => {
    const placement = await createCappedPlacement(game, 2);
    const ads = await decideConcurrently([game.client], placement, 20);
    expect(ads).toHaveLength(2);
    for (const ad of ads) {
      await refresh();
      expect(await game.watch(ad)).toMatchObject({ state: 'earned' });
    }
    await refresh();
    const { body } = await game.client.decide({ placement, user_ref: 'late', formats: ['image'] });
    expect(body).toMatchObject({ status: 'no_fill', reason: 'budget' });
    expect(body.retry_at).toBe('2026-06-02T00:00:00.000Z');
  });

  test("releases expired ads' reservations", async () => {
    const placement = await createCappedPlacement(game, 2);
    const ads = await decideConcurrently([game.client], placement, 5);
    expect(ads).toHaveLength(2);
    await refresh();
    const { body } = await game.client.decide({ placement, user_ref: 'later', formats: ['image'] });
    expect(body).toMatchObject({ reason: 'budget' });
    expect(Date.parse(body.retry_at ?? '') - game.clock.nowMs()).toBe(10_000);
    game.advance(600_001);
    await refresh();
    expect(await decideConcurrently([game.client], placement, 5)).toHaveLength(2);
    // This player was offline while watching the ad.
    const [offlineAd] = ads;
    if (!offlineAd) throw new Error('Expected an ad.');
    const formatTimeAgo = (ms: number) => new Date(game.clock.nowMs() - ms).toISOString();
    const events = [
      game.createEvent(offlineAd, 'start'),
      game.createImpression(offlineAd),
      game.createCompletion(offlineAd),
    ];
    const pastEvents = events.map((event, index) => ({
      ...event,
      occurred_at: formatTimeAgo(500_000 - index * 2_500),
    }));
    expect((await game.report(...pastEvents)).decisions).toMatchObject([{ state: 'earned' }]);
  });

  test('is not used up by preloaded ads that are never shown', async () => {
    const placement = await createCappedPlacement(game, 10);
    let shownAds = 0;
    for (let round = 0; round < 40 && shownAds < 10; round += 1) {
      await refresh();
      const ads = await decideConcurrently([game.client], placement, 20);
      // One in five ads is shown, and the others expire.
      for (const ad of ads.filter((_, index) => index % 5 === 0)) {
        await game.watch(ad);
        shownAds += 1;
      }
      game.advance(601_000);
    }
    expect(shownAds).toBeGreaterThanOrEqual(10);
    expect(shownAds).toBeLessThanOrEqual(12);
  });
});

describe.runIf(hasPostgres)('a daily cap enforced by two processes', () => {
  let game: Game;
  let secondService: InProcessService;
  beforeAll(async () => {
    const databaseUrl = await createPostgresDatabase();
    game = await startGame(databaseUrl);
    const { clock, config } = game;
    secondService = await startInProcess(
      { DATABASE_URL: databaseUrl, PUBLIC_URL: 'http://service.test', RATE_LIMITS: 'off' },
      { clock, dataDirectory: config.dataDirectory },
    );
  });
  afterAll(async () => {
    await secondService.stop();
    await game.stop();
  });

  test('is exceeded by at most two impressions', async () => {
    const placement = await createCappedPlacement(game, 20);
    const clients = [game.client, createClient({ url: secondService.url, keys: game.keys })];
    const ads: FilledDecision[] = [];
    for (let round = 0; round < (inject('full') ? 30 : 10); round += 1) {
      await Promise.all(
        [game, secondService].map(({ service }) => service.configuration.refresh()),
      );
      ads.push(...(await decideConcurrently(clients, placement, 60)));
    }
    expect(ads.length).toBeGreaterThanOrEqual(20);
    expect(ads.length).toBeLessThanOrEqual(22);
    for (const ad of ads) await game.report(game.createEvent(ad, 'start'));
    game.advance(5_000);
    const responses = await Promise.all(
      ads.map((ad) => game.report(game.createImpression(ad), game.createCompletion(ad))),
    );
    for (const { decisions } of responses) expect(decisions).toMatchObject([{ state: 'earned' }]);
  });

  test('the service does not start if a placement needs decisions older than RETENTION_DAYS', async () => {
    const { client, clock, config } = game;
    const response = await client.call(
      'POST',
      '/v1/placements',
      client.secret,
      placementWithCap(30),
    );
    expect(response.status).toBe(201);
    const { databaseUrl = '', dataDirectory } = config;
    const env = { DATABASE_URL: databaseUrl, RETENTION_DAYS: '20' };
    await expect(startInProcess(env, { clock, dataDirectory })).rejects.toThrow(
      'RETENTION_DAYS is 20, but the sandbox placement cap-of-30 looks back 30 days, for its caps or late completions. Set RETENTION_DAYS to 30 or more, or to forever.',
    );
  });
});

const placementWithCap = (days: number) => ({
  name: `cap-of-${days}`,
  format: 'interstitial',
  frequency_cap: { max: 3, per_s: days * 86_400 },
});

test('a placement that needs decisions older than RETENTION_DAYS is rejected', async () => {
  const clock = createManualClock(Date.UTC(2026, 5, 1));
  const runningService = await startInProcess({ RETENTION_DAYS: '20' }, { clock });
  try {
    const client = createClient(runningService);
    const save = (days: number) =>
      client.call('POST', '/v1/placements', client.secret, placementWithCap(days));
    expect(await save(30)).toMatchObject({
      status: 422,
      body: {
        errors: [
          {
            pointer: '/frequency_cap/per_s',
            message:
              "must be at most 1728000: decisions are deleted after 20 days (the account's retention, or the service's RETENTION_DAYS)",
          },
        ],
      },
    });
    expect((await save(20)).status).toBe(201);
  } finally {
    await runningService.stop();
  }
});
