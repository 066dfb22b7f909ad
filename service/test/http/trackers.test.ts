import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DemandRecord } from '../../src/demand/offer.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { type Filled, type Game, startGame } from './reward-game.ts';
import { startTrackerServer, type TrackerServer } from './tracker-server.ts';

type Chosen = NonNullable<DemandRecord['chosen']>;

describe.each(['PGlite', ...(hasPostgres ? ['PostgreSQL'] : [])])('on %s', (engine) => {
  let game: Game;
  let server: TrackerServer;
  beforeAll(async () => {
    game = await startGame(engine === 'PGlite' ? undefined : await createPostgresDatabase());
  });
  afterAll(() => game.stop());
  beforeEach(async () => void (server = await startTrackerServer()));
  afterEach(() => server.close());

  /** Trackers named after what they are requested for. */
  const trackersOf = (...names: (keyof Chosen['trackers']['byEvent'])[]) =>
    Object.fromEntries(names.map((name) => [name, [`${server.url}/${name}`]]));

  /** Turns the ad of a decision into one of a bidder, as if a source had offered it. */
  async function sell(
    decision: Filled,
    trackers: Partial<Chosen['trackers']>,
    more: Partial<Chosen> = {},
  ): Promise<void> {
    const { database } = game.service;
    const chosen: Chosen = {
      sourceId: 'src_1',
      priceMicros: 1_234_567,
      currency: 'USD',
      trackers: { byEvent: {}, progress: [], macros: {}, ...trackers },
      impressionOn: 'verified',
      headerProfile: 'iab',
      trackUntilMs: game.clock.nowMs() + 1_800_000,
      limitAdTracking: false,
      ...more,
    };
    await database.query('UPDATE decisions SET house_ad_id = NULL WHERE id = $1', [decision.id]);
    await database.query(
      `INSERT INTO decision_demand SELECT account_id, id, $2::text::jsonb FROM decisions WHERE id = $1`,
      [decision.id, JSON.stringify({ chosen, notices: [] } satisfies DemandRecord)],
    );
  }

  const requestsOf = async ({ id }: Filled): Promise<Record<string, string>> =>
    Object.fromEntries(
      (
        await game.service.database.query<{ tracker: string; state: string; client: unknown }>(
          'SELECT tracker, state, client FROM tracker_requests WHERE decision_id = $1',
          [id],
        )
      ).map(({ tracker, state, client }) => [
        tracker,
        `${state}${client === null ? '' : ' with client'}`,
      ]),
    );

  test('the trackers of an ad are requested in order, once each, after the impression is verified', async () => {
    const decision = await game.decide('in-order');
    await sell(decision, {
      byEvent: trackersOf('complete', 'midpoint', 'start', 'impression', 'click', 'creativeView'),
      burl: `${server.url}/burl`,
    });
    await game.report(game.event(decision, 'start'));
    game.pass(2_000);
    await game.report(game.event(decision, 'midpoint'), game.event(decision, 'click'));
    expect(await requestsOf(decision)).toEqual({});
    game.pass(3_000);
    const [seen, complete] = [game.seen(decision), game.complete(decision)];
    const { decisions } = await game.report(seen, complete);
    expect(decisions[0]?.state).toBe('earned');
    await game.report(seen, complete, game.event(decision, 'complete', { watched_ms: 5_000 }));
    await expect.poll(server.paths).toHaveLength(7);
    const paths = server.paths();
    expect(new Set(paths.slice(0, 2))).toEqual(new Set(['/impression', '/burl']));
    expect(new Set(paths.slice(2, 4))).toEqual(new Set(['/creativeView', '/start']));
    expect(paths.slice(4)).toEqual(['/midpoint', '/complete', '/click']);
    await expect
      .poll(async () => Object.values(await requestsOf(decision)))
      .toEqual(Array(7).fill('sent'));
  });
});
