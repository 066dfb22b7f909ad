import type { DemandRecord } from '../../src/demand/offer.ts';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject } from 'vitest';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { type FilledDecision, type Game, startGame } from './reward-game.ts';
import { startTrackerServer, type TrackerServer } from './tracker-server.ts';

type ChosenAd = NonNullable<DemandRecord['chosen']>;

const allEngines = ['PGlite', ...(hasPostgres ? ['PostgreSQL'] : [])];
/** The database engines that the tracker tests run on: PostgreSQL if it is installed, and with `test:full` both. */
export const engines = inject('full') ? allEngines : allEngines.slice(-1);

export interface TrackerGame {
  /** The game that all tests share, and the current test's tracker server. */
  current(): { game: Game; server: TrackerServer };
  /** Returns one tracker per event. The URL path is the event's name. */
  createTrackers(
    ...names: (keyof ChosenAd['trackers']['byEvent'])[]
  ): ChosenAd['trackers']['byEvent'];
  /** Requests a decision and replaces its ad with a bidder's ad. */
  decide(
    user: string,
    trackers: Partial<ChosenAd['trackers']>,
    overrides?: Partial<ChosenAd>,
  ): Promise<FilledDecision>;
  /** Returns a URL whose host refuses connections, and its port. */
  findUnreachableHost(): Promise<{ url: string; port: number }>;
  /** Polls a value, advancing the clock before each poll so that retries become due. */
  pollLater<T>(read: () => T): ReturnType<typeof expect.poll<T>>;
  /** Returns each tracker request's state, and whether the request contains player data. */
  readRequests(decision: FilledDecision): Promise<Record<string, string>>;
  /** Watches the ad to the end and checks that the reward is earned. */
  watch(decision: FilledDecision): Promise<void>;
}

/**
 * Starts a game for a `describe` block and a tracker server for each test. Call the returned functions only in tests
 * and hooks.
 */
export function useTrackerGame(engine: string): TrackerGame {
  let game: Game;
  let server: TrackerServer;
  beforeAll(async () => {
    game = await startGame(engine === 'PGlite' ? undefined : await createPostgresDatabase());
  });
  afterAll(() => game.stop());
  beforeEach(async () => void (server = await startTrackerServer()));
  afterEach(() => server.close());

  const createTrackers = (...names: (keyof ChosenAd['trackers']['byEvent'])[]) =>
    Object.fromEntries(names.map((name) => [name, [`${server.url}/${name}`]]));

  /** Replaces a stored decision's ad with a bidder's ad. */
  async function replaceAd(
    decision: FilledDecision,
    trackers: Partial<ChosenAd['trackers']>,
    overrides: Partial<ChosenAd> = {},
  ): Promise<void> {
    const { database } = game.service;
    const chosen: ChosenAd = {
      sourceId: 'src_1',
      priceMicros: 1_234_567,
      currency: 'USD',
      trackers: { byEvent: {}, progress: [], macros: {}, ...trackers },
      impressionOn: 'verified',
      headerProfile: 'iab',
      trackUntilMs: game.clock.nowMs() + 1_800_000,
      limitAdTracking: false,
      ...overrides,
    };
    await database.query('UPDATE decisions SET house_ad_id = NULL WHERE id = $1', [decision.id]);
    await database.query(
      `INSERT INTO decision_demand SELECT account_id, id, $2::text::jsonb FROM decisions WHERE id = $1`,
      [decision.id, JSON.stringify({ chosen, notices: [] } satisfies DemandRecord)],
    );
  }

  const readRequests = async ({ id }: FilledDecision): Promise<Record<string, string>> =>
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

  async function watch(decision: FilledDecision): Promise<void> {
    expect((await game.watch(decision))?.state).toBe('earned');
  }

  async function decide(
    user: string,
    trackers: Partial<ChosenAd['trackers']>,
    overrides: Partial<ChosenAd> = {},
  ): Promise<FilledDecision> {
    const decision = await game.decide(user);
    await replaceAd(decision, trackers, overrides);
    return decision;
  }

  const pollLater = <T>(read: () => T) =>
    expect.poll(
      () => {
        // Leases last 20 s, so the clock must not run much faster than the requests.
        game.advance(100);
        return read();
      },
      { timeout: 30_000 },
    );

  async function findUnreachableHost(): Promise<{ url: string; port: number }> {
    const { url, port, close } = await startTrackerServer();
    await close();
    return { url, port };
  }

  return {
    current: () => ({ game, server }),
    createTrackers,
    decide,
    findUnreachableHost,
    pollLater,
    readRequests,
    watch,
  };
}
