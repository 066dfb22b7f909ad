import type { AdEvent } from '@trueward/protocol/wire';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newRandomId } from '../../../src/platform/ids.ts';
import { maxEvents, parseTimeline } from '../../src/reward/timeline.ts';
import { startInProcess } from '../in-process.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { createClient } from './client.ts';
import { type FilledDecision, type Game, startGame } from './reward-game.ts';

describe.each([
  ['the embedded database', false],
  ...(hasPostgres ? ([['PostgreSQL', true]] as const) : []),
] as const)('on %s', (_name, usesPostgres) => {
  let game: Game;
  let databaseUrl: string | undefined;
  beforeAll(async () => {
    databaseUrl = usesPostgres ? await createPostgresDatabase() : undefined;
    game = await startGame(databaseUrl);
  });
  afterAll(() => game.stop());

  const query = (text: string, params: unknown[] = []) =>
    game.service.database.query<Record<string, unknown>>(text, params);
  const reportStatuses = async (...events: AdEvent[]) =>
    (await game.report(...events)).results.map(({ status }) => status);
  const readTimeline = async ({ id }: FilledDecision) => {
    const [row] = await query('SELECT events FROM timelines WHERE decision_id = $1', [id]);
    return parseTimeline(id, String(row?.['events']));
  };

  test('the view shows every recorded event as it was reported', async () => {
    const decision = await game.decide('both');
    const start = game.createEvent(decision, 'start', { id: '923741103577103-1' });
    const detail = 'a "b" é';
    const quartile = game.createEvent(decision, 'first_quartile', {
      id: '923741103577103-2',
      watched_ms: 1_250,
      detail,
    });
    game.advance(1_250);
    expect(await reportStatuses(start, quartile)).toEqual(['accepted', 'accepted']);
    game.advance(3_750);
    const impression = game.createImpression(decision);
    const finalEvents = [impression, game.createCompletion(decision)];
    const { results, decisions } = await game.report(start, ...finalEvents, quartile);
    expect(results.map(({ status }) => status)).toEqual([
      'duplicate',
      'accepted',
      'accepted',
      'duplicate',
    ]);
    expect(decisions).toMatchObject([{ state: 'earned' }]);
    const timeline = await readTimeline(decision);
    const rows = await query('SELECT * FROM recorded_events WHERE decision_id = $1', [decision.id]);
    expect(
      rows.map(({ occurred_at, received_at, ...row }) => ({
        ...row,
        occurred_at: (occurred_at as Date).getTime(),
        received_at: (received_at as Date).getTime(),
      })),
    ).toEqual(
      timeline.map((event) => ({
        account_id: expect.any(String) as string,
        decision_id: decision.id,
        id: event.id,
        type: event.type,
        occurred_at: event.occurredAtMs,
        received_at: event.receivedAtMs,
        offset_ms: event.offsetMs,
        clamped: event.clamped,
        watched_ms: event.watchedMs ?? null,
        visible_ratio: event.visible?.ratio ?? null,
        visible_ms: event.visible?.ms ?? null,
        detail: event.detail ?? null,
      })),
    );
  });

  test('a timeline contains each event once, in arrival order', async () => {
    const decision = await game.decide('ordered');
    game.advance(5_000);
    const [start, firstQuartile, midpoint] = (['start', 'first_quartile', 'midpoint'] as const).map(
      (type) => game.createEvent(decision, type),
    ) as [AdEvent, AdEvent, AdEvent];
    expect(await reportStatuses(midpoint, start, midpoint)).toEqual([
      'accepted',
      'accepted',
      'duplicate',
    ]);
    expect(await reportStatuses(start, firstQuartile)).toEqual(['duplicate', 'accepted']);
    expect((await readTimeline(decision)).map(({ id }) => id)).toEqual(
      [midpoint, start, firstQuartile].map(({ id }) => id),
    );
  });

  test('the number of events per decision is limited', async () => {
    const [fullDecision, otherDecision] = [
      await game.decide('full'),
      await game.decide('next to it'),
    ];
    const clicks = Array.from({ length: maxEvents }, () => game.createEvent(fullDecision, 'click'));
    expect(await reportStatuses(...clicks)).toEqual(clicks.map(() => 'accepted'));
    const [extraClick, start] = [
      game.createEvent(fullDecision, 'click'),
      game.createEvent(otherDecision, 'start'),
    ];
    const { results } = await game.report(extraClick, ...clicks.slice(0, 1), start);
    expect(results).toEqual([
      { id: extraClick.id, status: 'rejected', code: 'invalid_event' },
      { id: clicks[0]?.id, status: 'duplicate' },
      { id: start.id, status: 'accepted' },
    ]);
  });

  test('an event that reaches two processes simultaneously is counted once', async ({ skip }) => {
    if (databaseUrl === undefined) return skip('The embedded database supports only one process.');
    const { clock, client } = game;
    const otherService = await startInProcess(
      { DATABASE_URL: databaseUrl, PUBLIC_URL: 'http://service.test', RATE_LIMITS: 'off' },
      { clock, dataDirectory: game.config.dataDirectory },
    );
    const otherClient = createClient({ url: otherService.url, keys: game.keys });
    const ads = await Promise.all(
      Array.from({ length: 20 }, (_, index) => game.decide(`sent-twice-${index}`)),
    );
    const countsBefore = [
      await game.readReportCount('starts'),
      await game.readReportCount('midpoints'),
    ];
    const events = ads.flatMap((ad) => [
      game.createEvent(ad, 'midpoint'),
      game.createEvent(ad, 'start'),
    ]);
    const responses = await Promise.all(
      [client, otherClient].flatMap((target) =>
        Array.from({ length: 10 }, async (_, index) => {
          const reportedEvents = index % 2 === 0 ? events : events.toReversed();
          const sent_at = new Date(clock.nowMs()).toISOString();
          const { body } = await target.call<Awaited<ReturnType<Game['report']>>>(
            'POST',
            '/v1/events',
            client.publishable,
            { sent_at, events: reportedEvents },
          );
          return body.results;
        }),
      ),
    );
    const acceptedEvents = responses.flat().filter(({ status }) => status === 'accepted');
    expect(acceptedEvents.map(({ id }) => id).toSorted()).toEqual(
      events.map(({ id }) => id).toSorted(),
    );
    expect(responses.flat().every(({ status }) => status !== 'rejected')).toBe(true);
    expect([await game.readReportCount('starts'), await game.readReportCount('midpoints')]).toEqual(
      countsBefore.map((count) => count + ads.length),
    );
    for (const ad of ads) expect(await readTimeline(ad)).toHaveLength(2);
    await otherService.stop();
  });

  test("appending events to a decision's timeline does not add index entries", async ({ skip }) => {
    if (databaseUrl === undefined) return skip('The embedded database has no statistics.');
    // Statistics are updated asynchronously, so this test uses a partition (a week) that no other test writes to.
    game.advance(7 * 86_400_000);
    // There are few ads, so that all row versions fit on one page even if other sessions delay the removal of old ones.
    const ads = await Promise.all(
      Array.from({ length: 6 }, (_, index) => game.decide(`hot-${index}`)),
    );
    const reportEach = async (...events: ((ad: FilledDecision) => AdEvent)[]) => {
      for (const ad of ads)
        await game.report(
          ...events.map((createEvent) => ({ ...createEvent(ad), id: newRandomId() })),
        );
    };
    await reportEach((ad) => game.createEvent(ad, 'start'));
    game.advance(5_000);
    const quartiles = ['first_quartile', 'midpoint', 'third_quartile'] as const;
    await reportEach(
      ...quartiles.map((type) => (ad: FilledDecision) => game.createEvent(ad, type)),
    );
    await reportEach(game.createImpression, game.createCompletion);
    const readUpdateCounts = () =>
      query(
        `SELECT n_tup_ins::bigint AS inserted, n_tup_upd::bigint AS updated, n_tup_hot_upd::bigint AS hot
          FROM pg_stat_user_tables
          WHERE relid = (SELECT tableoid FROM timelines WHERE decision_id = $1)`,
        [ads[0]?.id],
      );
    await expect
      .poll(readUpdateCounts, { timeout: 15_000 })
      .toEqual([{ inserted: 6, updated: 12, hot: 12 }]);
  });

  test('a malformed timeline fails only requests for its decision', async () => {
    const [brokenDecision, otherDecision] = await Promise.all([
      game.decide('broken'),
      game.decide('other'),
    ]);
    await game.report(game.createEvent(brokenDecision, 'start'));
    await query(`UPDATE timelines SET events = '[1, 2]' WHERE decision_id = $1`, [
      brokenDecision.id,
    ]);
    const { client, createEvent } = game;
    const sent_at = new Date(game.clock.nowMs()).toISOString();
    const send = async (decision: FilledDecision) => {
      const body = { sent_at, events: [createEvent(decision, 'midpoint')] };
      return (await client.call('POST', '/v1/events', client.publishable, body)).status;
    };
    expect(
      await Promise.all([send(otherDecision), send(brokenDecision), send(otherDecision)]),
    ).toEqual([200, 500, 200]);
    await query('DELETE FROM timelines WHERE decision_id = $1', [brokenDecision.id]);
    expect(await send(brokenDecision)).toBe(200);
  });
});
