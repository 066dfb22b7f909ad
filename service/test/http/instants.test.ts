import type { EventBatchResult, HouseAd, KillSwitch, Problem } from '@trueward/protocol/wire';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGame, type FilledDecision, type Game } from './reward-game.ts';
import { readAccountId, updatePlacement } from './reward-operator.ts';

let game: Game;
beforeAll(async () => {
  game = await startGame();
});
afterAll(() => game.stop());

/** Invalid or rarely supported times that common `date-time` validators accept. */
const invalidTimes = [
  '2016-12-31T23:59:60Z',
  '2026-06-01T10:00:00+05',
  '2026-06-01 10:00:00+0530',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
];

const send = <T = EventBatchResult>(sentAt: string, ...events: object[]) =>
  game.client.call<T>('POST', '/v1/events', game.client.publishable, { sent_at: sentAt, events });
const now = () => new Date(game.clock.nowMs()).toISOString();
const manage = <T>(method: string, path: string, body?: object) =>
  game.client.call<T & Problem>(method, path, game.client.secret, body);

/** Watches an ad to the end, and reports all events with `occurredAt` as their time. */
async function watchAt(occurredAt: string, decision: FilledDecision): Promise<string> {
  await send(now(), { ...game.createEvent(decision, 'start'), occurred_at: occurredAt });
  game.advance(5_000);
  for (const event of [game.createImpression(decision), game.createCompletion(decision)])
    await send(now(), { ...event, occurred_at: occurredAt });
  return (await game.readRewardStatus(decision.id)).state;
}

describe('an invalid time', () => {
  test.each(invalidTimes)('in an event rejects only that event: %s', async (text) => {
    const decision = await game.decide('careless');
    const { status, body } = await send(
      now(),
      { ...game.createEvent(decision, 'start'), occurred_at: text },
      game.createEvent(decision, 'start'),
    );
    expect(status).toBe(200);
    expect(body.results).toMatchObject([
      { status: 'rejected', code: 'invalid_event' },
      { status: 'accepted' },
    ]);
  });

  test.each(invalidTimes)('in `sent_at` rejects the whole batch: %s', async (text) => {
    const decision = await game.decide('careless');
    const { status, body } = await send<Problem>(text, game.createEvent(decision, 'start'));
    expect(status).toBe(422);
    expect(body.errors).toEqual([
      { pointer: '/sent_at', message: expect.stringContaining('must be a time such as 2026') },
    ]);
  });

  test('does not affect caps, cooldowns, expiry or reports', async () => {
    await updatePlacement(game, 'double-coins', { frequency_cap: { max: 1, per_s: 86_400 } });
    const ads = [];
    for (let count = 0; count < 4; count += 1)
      ads.push(await game.decide('capped', { placement: 'double-coins' }));
    const states = [];
    for (const ad of ads) states.push(await watchAt('2016-12-31T23:59:60Z', ad));
    expect(states.filter((state) => state === 'earned').length).toBeLessThanOrEqual(1);
    await updatePlacement(game, 'double-coins', { frequency_cap: undefined, cooldown_s: 600 });
    const cooldownAds = [];
    for (let count = 0; count < 3; count += 1)
      cooldownAds.push(await game.decide('cooling', { placement: 'double-coins' }));
    const cooldownStates = [];
    for (const ad of cooldownAds) cooldownStates.push(await watchAt('2026-06-01T10:00:00+05', ad));
    expect(cooldownStates.filter((state) => state === 'earned').length).toBeLessThanOrEqual(1);
    await updatePlacement(game, 'double-coins', { cooldown_s: 0 });

    const expiredDecision = await game.decide('hoarder');
    game.advance(700_000);
    expect(await watchAt('2016-12-31T23:59:60Z', expiredDecision)).not.toBe('earned');
    const [row] = await game.service.database.query<{ count: number }>(
      `SELECT count(*) AS count FROM rollup_counts WHERE hour < '2001-01-01T00:00:00Z'`,
    );
    expect(row?.count).toBe(0);
  });
});

test('an event time with a complete UTC offset is accepted', async () => {
  const decision = await game.decide('traveler');
  game.advance(5_000);
  const formatTime = (ms: number) =>
    new Date(game.clock.nowMs() - ms + 19_800_000).toISOString().replace('Z', '+05:30');
  const events = [
    game.createEvent(decision, 'start'),
    game.createImpression(decision),
    game.createCompletion(decision),
  ];
  await send(
    formatTime(0),
    ...events.map((event, index) => ({
      ...event,
      occurred_at: formatTime([5_000, 3_000, 0][index] ?? 0),
    })),
  );
  expect(await game.readRewardStatus(decision.id)).toMatchObject({ state: 'earned' });
});

describe('an operator', () => {
  test.each(invalidTimes)('cannot schedule a house ad or kill switch at %s', async (text) => {
    const { body: list } = await manage<{ data: HouseAd[] }>('GET', '/v1/house-ads');
    const path = `/v1/house-ads/${list.data[0]?.id}`;
    for (const member of ['starts_at', 'ends_at']) {
      const { status, body } = await manage('PATCH', path, { [member]: text });
      expect(status).toBe(422);
      expect(body.errors?.[0]).toMatchObject({ pointer: `/${member}` });
    }
    const killSwitch = { scope: 'placement', target_id: 'lobby', state: 'on', expires_at: text };
    const response = await manage<KillSwitch>('POST', '/v1/kill-switches', killSwitch);
    expect(response.status).toBe(422);
  });

  test.each(invalidTimes)('cannot use %s as the start of a recovery or a report', async (text) => {
    const webhook = { url: 'https://hooks.example/a', events: ['decision.rewarded'] };
    const { body } = await manage<{ id: string }>('POST', '/v1/webhooks', webhook);
    const startTime = encodeURIComponent(text);
    const recovery = await manage('POST', `/v1/webhooks/${body.id}/recover?since=${startTime}`);
    expect(recovery.status).toBe(422);
    expect(recovery.body.errors?.[0]?.pointer).toBe('/since');
    const report = await manage('GET', `/v1/reports?from=${startTime}&to=2026-06-02T00:00:00Z`);
    expect(report.status).toBe(422);
    await manage('DELETE', `/v1/webhooks/${body.id}`);
  });

  test('can recover events since a time with a UTC offset', async () => {
    const webhook = { url: 'https://hooks.example/a', events: ['decision.rewarded'] };
    const { body } = await manage<{ id: string }>('POST', '/v1/webhooks', webhook);
    const startTime = encodeURIComponent('2026-06-01T00:00:00.5+05:30');
    expect(
      (await manage('POST', `/v1/webhooks/${body.id}/recover?since=${startTime}`)).status,
    ).toBe(202);
    await manage('DELETE', `/v1/webhooks/${body.id}`);
  });
});

test('database constraints reject invalid times', async () => {
  const decision = await game.watch(await game.decide('honest'));
  const { database } = game.service;
  const accountId = await readAccountId(game);
  for (const update of [
    `UPDATE decisions SET served_at = issued_at - interval '1 ms'`,
    `UPDATE decisions SET settled_at = '2000-01-01T00:00:00Z'`,
    `UPDATE decisions SET watch_to = watch_from - interval '1 ms'`,
    `UPDATE decisions SET expires_at = issued_at - interval '1 ms'`,
  ])
    await expect(
      database.query(`${update} WHERE account_id = $1 AND id = $2`, [accountId, decision?.id]),
    ).rejects.toMatchObject({ code: '23514' });
  for (const table of ['rollups', 'rollup_deltas'])
    await expect(
      database.query(
        `INSERT INTO ${table} (account_id, environment, hour, placement, creative_id, source_id, advertiser_id,
            house_ad_id, metric, reason, count)
          VALUES ($1, 'sandbox', '2000-01-01T00:00:00Z', 'revive', '', '', '', '', 'filled', '', 1)`,
        [accountId],
      ),
    ).rejects.toMatchObject({ code: '23514' });
});
