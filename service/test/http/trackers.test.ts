import type { ServerResponse } from 'node:http';
import type { Report } from '@trueward/protocol/wire';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type DecisionRecord, recordDecisions } from '../../src/decision/record-decisions.ts';
import type { DemandRecord } from '../../src/demand/offer.ts';
import { openSecretBox } from '../../src/key/secret-box.ts';
import { addAccount } from '../add-account.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { type Filled, type Game, startGame } from './reward-game.ts';
import { turnOnKillSwitch } from './reward-operator.ts';
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

  /** Returns trackers. The path of each tracker's URL is the name of the tracked event. */
  const createTrackers = (...names: (keyof Chosen['trackers']['byEvent'])[]) =>
    Object.fromEntries(names.map((name) => [name, [`${server.url}/${name}`]]));

  /** Changes a stored decision so that it looks as if a bidder had offered the ad. */
  async function replaceAd(
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

  const readRequests = async ({ id }: Filled): Promise<Record<string, string>> =>
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

  /** Watches the ad to the end, and checks the reward, because trackers must never prevent it. */
  async function watch(decision: Filled): Promise<void> {
    expect((await game.watch(decision))?.state).toBe('earned');
  }

  /** Requests a decision, then changes it so that it looks as if a bidder had offered the ad. */
  async function decide(
    user: string,
    trackers: Partial<Chosen['trackers']>,
    more: Partial<Chosen> = {},
  ): Promise<Filled> {
    const decision = await game.decide(user);
    await replaceAd(decision, trackers, more);
    return decision;
  }

  /** Polls, and advances the clock before each poll, because an unreachable host is retried only after a delay. */
  const pollLater = <T>(read: () => T) =>
    expect.poll(
      () => {
        game.advance(1_000);
        return read();
      },
      { timeout: 30_000 },
    );

  /** Returns a host at which nothing listens. */
  async function findUnreachableHost(): Promise<{ url: string; port: number }> {
    const { url, port, close } = await startTrackerServer();
    await close();
    return { url, port };
  }

  test('after the impression is verified, each of the ad’s trackers is requested once, in order', async () => {
    const decision = await decide('in-order', {
      byEvent: createTrackers(
        'complete',
        'midpoint',
        'start',
        'impression',
        'click',
        'creativeView',
      ),
      burl: `${server.url}/burl`,
    });
    await game.report(game.event(decision, 'start'));
    game.advance(2_000);
    await game.report(game.event(decision, 'midpoint'), game.event(decision, 'click'));
    expect(await readRequests(decision)).toEqual({});
    game.advance(3_000);
    const [impression, complete] = [game.seen(decision), game.complete(decision)];
    const { decisions } = await game.report(impression, complete);
    expect(decisions[0]?.state).toBe('earned');
    await game.report(
      impression,
      complete,
      game.event(decision, 'complete', { watched_ms: 5_000 }),
    );
    await expect.poll(server.paths).toHaveLength(7);
    const paths = server.paths();
    expect(new Set(paths.slice(0, 2))).toEqual(new Set(['/impression', '/burl']));
    expect(new Set(paths.slice(2, 4))).toEqual(new Set(['/creativeView', '/start']));
    expect(paths.slice(4)).toEqual(['/midpoint', '/complete', '/click']);
    await expect
      .poll(async () => Object.values(await readRequests(decision)))
      .toEqual(Array(7).fill('sent'));
  });

  test('auction trackers contain the time of the verified impression, even if they are requested much later', async () => {
    const { url, port } = await findUnreachableHost();
    const decision = await decide('impression-time', {
      byEvent: { impression: [`${url}/impression?at=\${AUCTION_IMP_TS}`] },
      burl: `${url}/burl?at=\${AUCTION_IMP_TS}`,
    });
    await game.report(game.event(decision, 'start'));
    game.advance(5_000);
    await game.report(game.seen(decision));
    const [row] = await game.service.database.query<{ served_at: Date }>(
      'SELECT served_at FROM decisions WHERE id = $1',
      [decision.id],
    );
    const atMs = row?.served_at.getTime() ?? 0;
    expect(atMs).toBeGreaterThan(Date.parse(decision.issued_at));
    game.advance(5_000);
    const lateServer = await startTrackerServer(undefined, port);
    await pollLater(() => lateServer.paths().toSorted()).toEqual([
      `/burl?at=${atMs}`,
      `/impression?at=${atMs}`,
    ]);
    await lateServer.close();
  });

  test('a source that counts rendered ads gets the impression when the ad starts, and the billing notice after verification', async () => {
    const decision = await decide(
      'rendered',
      { byEvent: createTrackers('impression', 'start', 'viewable'), burl: `${server.url}/burl` },
      { impressionOn: 'rendered' },
    );
    await game.report(game.event(decision, 'start'));
    await expect.poll(server.paths).toEqual(['/impression', '/start']);
    game.advance(2_000);
    await game.report(game.seen(decision));
    await expect.poll(server.paths).toEqual(['/impression', '/start', '/burl', '/viewable']);
  });

  test('tracker requests identify the player in the headers and macros that their source expects', async () => {
    const query = '?ip=[DEVICEIP]&ua=[DEVICEUA]&lmt=[LIMITADTRACKING]&asset=[ASSETURI]&x=[OTHER]';
    const trackers = {
      byEvent: { impression: [`${server.url}/impression${query}`] },
      macros: { ASSETURI: 'https://cdn.test/a b.mp4' },
      burl: `${server.url}/burl`,
    };
    const watchAs = async (decision: Filled, userAgent: string) => {
      const events = [game.event(decision, 'start')];
      await game.report(...events);
      game.advance(2_000);
      await game.client.call(
        'POST',
        '/v1/events',
        game.client.publishable,
        { sent_at: new Date(game.clock.nowMs()).toISOString(), events: [game.seen(decision)] },
        { 'user-agent': userAgent },
      );
    };
    await watchAs(await decide('iab', trackers), 'Player/1 (a b)');
    await expect.poll(server.paths).toHaveLength(2);
    const call = (name: string) => server.calls.findLast(({ path }) => path.startsWith(name));
    expect(call('/impression')?.path).toBe(
      '/impression?ip=127.0.0.1&ua=Player%2F1%20(a%20b)&lmt=0&asset=https%3A%2F%2Fcdn.test%2Fa%20b.mp4&x=[OTHER]',
    );
    expect(call('/impression')?.headers).toMatchObject({
      'x-device-ip': '127.0.0.1',
      'x-device-user-agent': 'Player/1 (a b)',
      'user-agent': 'Trueward/1',
    });
    expect(JSON.stringify(call('/burl'))).not.toMatch(/127\.0\.0\.1"|Player/);

    await watchAs(
      await decide('forwarded', trackers, { headerProfile: 'forwarded', limitAdTracking: true }),
      'Player/2',
    );
    await expect.poll(server.paths).toHaveLength(4);
    expect(call('/impression')?.path).toContain('?ip=127.0.0.0&ua=Player%2F2&lmt=1&');
    const { headers } = call('/impression') ?? { headers: {} };
    expect(headers).toMatchObject({ 'x-forwarded-for': '127.0.0.0', 'user-agent': 'Player/2' });
    expect(headers).not.toHaveProperty('x-device-ip');
  });

  test('the IP address and User-Agent are stored encrypted until the request is sent, then erased', async () => {
    const { url, port } = await findUnreachableHost();
    const decision = await decide('sealed', { byEvent: { impression: [`${url}/impression`] } });
    await watch(decision);
    const read = () =>
      game.service.database.query<{ client: string | null; state: string; attempt: number }>(
        'SELECT client, state, attempt FROM tracker_requests WHERE decision_id = $1',
        [decision.id],
      );
    await expect.poll(async () => (await read())[0]?.attempt).toBeGreaterThan(0);
    expect(await read()).toMatchObject([
      { state: 'pending', client: expect.stringMatching(/^1\.[\w-]+\./) as string },
    ]);
    const openedClient = openSecretBox(game.config).open((await read())[0]?.client ?? '');
    expect(JSON.parse(openedClient)).toMatchObject({ ip: '127.0.0.1' });
    const lateServer = await startTrackerServer(undefined, port);
    await pollLater(read).toMatchObject([{ state: 'sent', client: null }]);
    expect(lateServer.paths()).toEqual(['/impression']);
    await lateServer.close();
  });

  test('requests to an unreachable host are sent in order once the host is back; other hosts do not have to wait', async () => {
    const { url, port } = await findUnreachableHost();
    const createUrls = (name: 'impression' | 'start' | 'complete') => [
      `${url}/${name}`,
      `${server.url}/${name}`,
    ];
    const decision = await decide('host-back', {
      byEvent: {
        impression: createUrls('impression'),
        start: createUrls('start'),
        complete: createUrls('complete'),
      },
    });
    await watch(decision);
    await expect.poll(server.paths).toEqual(['/impression', '/start', '/complete']);
    const restoredServer = await startTrackerServer(undefined, port);
    await pollLater(restoredServer.paths).toEqual(['/impression', '/start', '/complete']);
    await restoredServer.close();
  });

  test('a pixel that was received is never requested again, whatever the response; a billing notice is, until it is confirmed', async () => {
    const heldResponses: ServerResponse[] = [];
    let notices = 0;
    const faulty = await startTrackerServer((path, response) => {
      if (path === '/hang') heldResponses.push(response);
      else if (path === '/reset') response.destroy();
      else if (path === '/burl') {
        notices += 1;
        response.writeHead(notices < 3 ? 503 : 200).end();
      } else if (path === '/loop') response.writeHead(302, { location: '/loop' }).end();
      else if (path === '/moved') response.writeHead(302, { location: '/target' }).end();
      else if (path === '/private')
        response.writeHead(302, { location: 'http://10.0.0.1/secret' }).end();
      else response.writeHead(path === '/error' ? 500 : 204).end();
    });
    const names = ['hang', 'reset', 'error', 'loop', 'moved', 'private'];
    const decision = await decide('odd', {
      byEvent: { impression: names.map((name) => `${faulty.url}/${name}`) },
      burl: `${faulty.url}/burl`,
    });
    await watch(decision);
    const rows = () =>
      game.service.database.query<object>(
        `SELECT tracker, state, reason, status FROM tracker_requests WHERE decision_id = $1 ORDER BY tracker`,
        [decision.id],
      );
    await pollLater(rows).toEqual([
      { tracker: 'burl/0', state: 'sent', reason: null, status: 200 },
      { tracker: 'impression/0', state: 'failed', reason: 'timeout', status: null },
      { tracker: 'impression/1', state: 'failed', reason: 'connection', status: null },
      { tracker: 'impression/2', state: 'failed', reason: 'status', status: 500 },
      { tracker: 'impression/3', state: 'failed', reason: 'status', status: 302 },
      { tracker: 'impression/4', state: 'sent', reason: null, status: 204 },
      { tracker: 'impression/5', state: 'failed', reason: 'blocked_address', status: null },
    ]);
    const countRequests = (path: string) => faulty.paths().filter((each) => each === path).length;
    expect(
      ['/hang', '/reset', '/error', '/moved', '/target', '/private'].map(countRequests),
    ).toEqual(Array(6).fill(1));
    expect(countRequests('/loop')).toBeLessThanOrEqual(4);
    expect(countRequests('/burl')).toBe(3);
    for (const response of heldResponses) response.destroy();
    await faulty.close();
  }, 60_000);

  test('with the kill switch on, no tracker is requested, and the skipped requests are counted', async () => {
    const { url, port } = await findUnreachableHost();
    const [queuedDecision, reason] = [
      await decide('killed', { byEvent: { start: [`${url}/a`] } }),
      'killed',
    ];
    await game.report(game.event(queuedDecision, 'start'));
    game.advance(2_000);
    await game.report(game.seen(queuedDecision));
    const attemptedRequests = `SELECT FROM tracker_requests WHERE attempt > 0 AND decision_id = '${queuedDecision.id}'`;
    await expect.poll(() => game.service.database.query(attemptedRequests)).toHaveLength(1);
    const laterDecision = await decide(
      'killed-later',
      { byEvent: createTrackers('impression', 'firstQuartile') },
      { impressionOn: 'rendered' },
    );
    const failedBefore = await game.count('trackers_failed', reason);

    const turnOff = await turnOnKillSwitch(game, 'revive');
    const restartedServer = await startTrackerServer(undefined, port);
    await game.report(
      game.event(laterDecision, 'start'),
      game.event(laterDecision, 'first_quartile'),
    );
    await pollLater(() => game.count('trackers_failed', reason)).toBe(failedBefore + 3);
    expect([restartedServer.paths(), server.paths()]).toEqual([[], []]);
    expect(await readRequests(queuedDecision)).toEqual({ 'start/0': 'failed' });
    await restartedServer.close();
    await turnOff();
  });

  test('invalid traffic is not tracked, even by requests that were already queued', async () => {
    const { url, port } = await findUnreachableHost();
    const decision = await decide('invalid', {
      byEvent: { impression: [`${url}/impression`], complete: [`${url}/c`] },
    });
    await game.report(game.event(decision, 'start'));
    game.advance(2_000);
    await game.report(game.seen(decision));
    await expect
      .poll(() => readRequests(decision))
      .toEqual({ 'impression/0': 'pending with client' });
    await game.service.database.query(
      `UPDATE decisions SET invalid_reason = 'impossible_order' WHERE id = $1`,
      [decision.id],
    );
    const restartedServer = await startTrackerServer(undefined, port);
    await pollLater(() => readRequests(decision)).toEqual({ 'impression/0': 'failed' });
    const counted = await game.count('trackers_failed', 'invalid_traffic');
    game.advance(3_000);
    await game.report(game.event(decision, 'third_quartile'), game.complete(decision));
    expect(await readRequests(decision)).toEqual({ 'impression/0': 'failed' });
    expect(counted).toBeGreaterThan(0);
    expect(restartedServer.paths()).toEqual([]);
    await restartedServer.close();
  });

  test('after a source’s tracking window, no tracker is requested, and the player’s data is erased', async () => {
    const { url } = await findUnreachableHost();
    const decision = await decide(
      'late',
      {
        byEvent: { ...createTrackers('complete'), impression: [`${url}/impression`] },
      },
      { trackUntilMs: game.clock.nowMs() + 4_000 },
    );
    const lateBefore = await game.count('trackers_late');
    await game.report(game.event(decision, 'start'));
    game.advance(2_000);
    await game.report(game.seen(decision));
    await expect
      .poll(() => readRequests(decision))
      .toEqual({ 'impression/0': 'pending with client' });
    game.advance(3_000);
    expect((await game.report(game.complete(decision))).decisions[0]?.state).toBe('earned');
    expect(await game.count('trackers_late')).toBe(lateBefore + 1);
    // The database's clock decides when the tracking window of the pending request ends.
    await pollLater(() => readRequests(decision)).toEqual({ 'impression/0': 'late' });
    await expect.poll(() => game.count('trackers_late')).toBe(lateBefore + 2);
    expect(server.paths()).toEqual([]);
  });

  test('verified impressions earn their price, and reports count revenue and trackers by source', async () => {
    const fromMs = Math.floor(game.clock.nowMs() / 3_600_000) * 3_600_000;
    const read = async () => {
      const [start, end] = [fromMs, fromMs + 7_200_000].map((ms) => new Date(ms).toISOString());
      const { body } = await game.client.call<Report>(
        'GET',
        `/v1/reports?from=${start}&to=${end}&interval=day&group_by=placement`,
        game.client.secret,
      );
      const [row] = body.data.filter(({ placement }) => placement === 'revive');
      return {
        usd: row?.reasons.revenue_micros['USD'] ?? 0,
        eur: row?.reasons.revenue_micros['EUR'] ?? 0,
        all: row?.revenue_micros ?? 0,
        sent: row?.trackers_sent ?? 0,
        failed: row?.trackers_failed ?? 0,
      };
    };
    const reportBefore = await read();
    for (const [user, priceMicros, currency] of [
      ['a', 400, 'EUR'],
      ['b', 1_100, 'EUR'],
      ['c', Number.NaN, 'EUR'],
      ['d', -5, 'EUR'],
      ['e', 1e300, 'EUR'],
    ] as const) {
      const byEvent = createTrackers('impression');
      await watch(await decide(`revenue-${user}`, { byEvent }, { priceMicros, currency }));
    }
    const unseenDecision = await decide(
      'unseen',
      { byEvent: createTrackers('impression') },
      { priceMicros: 9_000_000, currency: 'EUR' },
    );
    await game.report(game.event(unseenDecision, 'start'));
    await expect.poll(read).toEqual({
      ...reportBefore,
      all: expect.any(Number) as number,
      eur: reportBefore.eur + 2,
      sent: reportBefore.sent + 5,
    });
  });

  test('for a decision with a house ad, no statement about external demand is executed', async () => {
    const { database } = game.service;
    const statements: string[] = [];
    const { transaction, execute } = database;
    vi.spyOn(database, 'execute').mockImplementation((text, params) => {
      statements.push(text);
      return execute(text, params);
    });
    vi.spyOn(database, 'transaction').mockImplementation((work, options) =>
      transaction((queries) => {
        const recordQuery =
          (run: typeof queries.query): typeof queries.query =>
          (text, params = []) => {
            statements.push(text);
            return run(text, params);
          };
        return work({ query: recordQuery(queries.query), execute: recordQuery(queries.execute) });
      }, options),
    );
    const decision = await game.decide('house');
    await watch(decision);
    vi.restoreAllMocks();
    expect(
      statements.filter((text) => /INTO decisions|UPDATE decisions/.test(text)).length,
    ).toBeGreaterThan(1);
    expect(statements.filter((text) => /decision_demand|tracker_requests/.test(text))).toEqual([]);
  });

  test('events that are sent again after a lost response are tracked only once', async () => {
    const decision = await decide('lost-response', {
      byEvent: createTrackers('impression', 'complete'),
      burl: `${server.url}/burl`,
    });
    await game.report(game.event(decision, 'start'));
    game.advance(5_000);
    const events = [game.seen(decision), game.complete(decision)];
    const { database } = game.service;
    const { transaction } = database;
    vi.spyOn(database, 'transaction').mockImplementationOnce(async (work, options) => {
      await transaction(work, options);
      throw new Error('The connection broke after the commit.');
    });
    await game.report(...events);
    const { decisions } = await game.report(...events);
    vi.restoreAllMocks();
    expect(decisions[0]?.state).toBe('earned');
    // Nothing has woken the dispatcher, so it has to find the requests with its next poll.
    await pollLater(async () => Object.values(await readRequests(decision))).toEqual(
      Array(3).fill('sent'),
    );
    expect(server.paths().toSorted()).toEqual(['/burl', '/complete', '/impression']);
  });

  test('auction notices are stored with the decision, and requested without any data about the player', async () => {
    const { database, makeId } = game.service;
    const scope = { accountId: 'acc_notices', environment: 'sandbox' } as const;
    await addAccount(database, scope.accountId);
    const id = makeId('decision');
    const demand: DemandRecord = {
      notices: [
        { kind: 'loss', url: `${server.url}/loss?code=102` },
        { kind: 'error', url: `${server.url}/error?code=[DEVICEIP]` },
      ],
    };
    const record = { ...noFill, id, issued_at: game.clock.nowMs(), expires_at: game.clock.nowMs() };
    await recordDecisions(database, async () => false, [
      { scope, record, demand },
      { scope, record: { ...record, id: makeId('decision') } },
    ]);
    await pollLater(() => server.paths().toSorted()).toEqual([
      '/error?code=[DEVICEIP]',
      '/loss?code=102',
    ]);
    expect(server.calls[0]?.headers).not.toHaveProperty('x-device-ip');
    expect(
      await database.query('SELECT FROM decision_demand WHERE account_id = $1', [scope.accountId]),
    ).toHaveLength(1);
  });
});

const noFill: Omit<DecisionRecord, 'id' | 'issued_at' | 'expires_at'> = {
  status: 'no_fill',
  reason: 'no_candidates',
  placement: 'revive',
  format: 'rewarded',
  creative_id: null,
  media_format: null,
  advertiser_id: null,
  source_id: null,
  house_ad_id: null,
  reserved_ad: null,
  reward: null,
  required_ms: null,
  invalid_reason: null,
  simulate: null,
  user_ref: null,
  viewer: null,
  custom_data: null,
  explain: null,
  late_at: null,
};
