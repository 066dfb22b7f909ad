import type { ServerResponse } from 'node:http';
import type { Report } from '@trueward/protocol/wire';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { type DecisionRecord, recordDecisions } from '../../src/decision/record-decisions.ts';
import type { DemandRecord } from '../../src/demand/offer.ts';
import { openSecretBox } from '../../src/access/secret-box.ts';
import { addAccount } from '../add-account.ts';
import type { FilledDecision, Game } from './reward-game.ts';
import { engines, useTrackerGame } from './tracker-game.ts';
import { startTrackerServer, type TrackerServer } from './tracker-server.ts';

describe.each(engines)('on %s', (engine) => {
  const { current, createTrackers, decide, findUnreachableHost, pollLater, readRequests, watch } =
    useTrackerGame(engine);
  let game: Game;
  let server: TrackerServer;
  beforeEach(() => ({ game, server } = current()));

  test('a verified impression fires each tracker once, in order', async () => {
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
    await game.report(game.createEvent(decision, 'start'));
    game.advance(2_000);
    await game.report(game.createEvent(decision, 'midpoint'), game.createEvent(decision, 'click'));
    expect(await readRequests(decision)).toEqual({});
    game.advance(3_000);
    const [impression, complete] = [
      game.createImpression(decision),
      game.createCompletion(decision),
    ];
    const { decisions } = await game.report(impression, complete);
    expect(decisions[0]?.state).toBe('earned');
    await game.report(
      impression,
      complete,
      game.createEvent(decision, 'complete', { watched_ms: 5_000 }),
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

  test("delayed auction trackers contain the verified impression's time", async () => {
    const { url, port } = await findUnreachableHost();
    const decision = await decide('impression-time', {
      byEvent: { impression: [`${url}/impression?at=\${AUCTION_IMP_TS}`] },
      burl: `${url}/burl?at=\${AUCTION_IMP_TS}`,
    });
    await game.report(game.createEvent(decision, 'start'));
    game.advance(5_000);
    await game.report(game.createImpression(decision));
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

  test('impression trackers fire on the start event if the source counts rendered ads', async () => {
    const decision = await decide(
      'rendered',
      { byEvent: createTrackers('impression', 'start', 'viewable'), burl: `${server.url}/burl` },
      { impressionOn: 'rendered' },
    );
    await game.report(game.createEvent(decision, 'start'));
    await expect.poll(server.paths).toEqual(['/impression', '/start']);
    game.advance(2_000);
    await game.report(game.createImpression(decision));
    await expect.poll(server.paths).toEqual(['/impression', '/start', '/burl', '/viewable']);
  });

  test('tracker requests contain the headers and macros of their source’s profile', async () => {
    const query = '?ip=[DEVICEIP]&ua=[DEVICEUA]&lmt=[LIMITADTRACKING]&asset=[ASSETURI]&x=[OTHER]';
    const trackers = {
      byEvent: { impression: [`${server.url}/impression${query}`] },
      macros: { ASSETURI: 'https://cdn.test/a b.mp4' },
      burl: `${server.url}/burl`,
    };
    const watchAs = async (decision: FilledDecision, userAgent: string) => {
      const events = [game.createEvent(decision, 'start')];
      await game.report(...events);
      game.advance(2_000);
      await game.client.call(
        'POST',
        '/v1/events',
        game.client.publishable,
        {
          sent_at: new Date(game.clock.nowMs()).toISOString(),
          events: [game.createImpression(decision)],
        },
        { 'user-agent': userAgent },
      );
    };
    await watchAs(await decide('iab', trackers), 'Player/1 (a b)');
    await expect.poll(server.paths).toHaveLength(2);
    const findCall = (name: string) => server.calls.findLast(({ path }) => path.startsWith(name));
    expect(findCall('/impression')?.path).toBe(
      '/impression?ip=127.0.0.1&ua=Player%2F1%20(a%20b)&lmt=0&asset=https%3A%2F%2Fcdn.test%2Fa%20b.mp4&x=[OTHER]',
    );
    expect(findCall('/impression')?.headers).toMatchObject({
      'x-device-ip': '127.0.0.1',
      'x-device-user-agent': 'Player/1 (a b)',
      'user-agent': 'Trueward/1',
    });
    expect(JSON.stringify(findCall('/burl'))).not.toMatch(/127\.0\.0\.1"|Player/);

    await watchAs(
      await decide('forwarded', trackers, { headerProfile: 'forwarded', limitAdTracking: true }),
      'Player/2',
    );
    await expect.poll(server.paths).toHaveLength(4);
    expect(findCall('/impression')?.path).toContain('?ip=127.0.0.0&ua=Player%2F2&lmt=1&');
    const { headers } = findCall('/impression') ?? { headers: {} };
    expect(headers).toMatchObject({ 'x-forwarded-for': '127.0.0.0', 'user-agent': 'Player/2' });
    expect(headers).not.toHaveProperty('x-device-ip');
  });

  test('the stored IP and User-Agent are encrypted and are erased after the request', async () => {
    const { url, port } = await findUnreachableHost();
    const decision = await decide('sealed', { byEvent: { impression: [`${url}/impression`] } });
    await watch(decision);
    const readTrackerRequests = () =>
      game.service.database.query<{ client: string | null; state: string; attempt: number }>(
        'SELECT client, state, attempt FROM tracker_requests WHERE decision_id = $1',
        [decision.id],
      );
    await expect.poll(async () => (await readTrackerRequests())[0]?.attempt).toBeGreaterThan(0);
    expect(await readTrackerRequests()).toMatchObject([
      { state: 'pending', client: expect.stringMatching(/^1\.[\w-]+\./) as string },
    ]);
    const clientData = openSecretBox(game.config).open(
      (await readTrackerRequests())[0]?.client ?? '',
    );
    expect(JSON.parse(clientData)).toMatchObject({ ip: '127.0.0.1' });
    const lateServer = await startTrackerServer(undefined, port);
    await pollLater(readTrackerRequests).toMatchObject([{ state: 'sent', client: null }]);
    expect(lateServer.paths()).toEqual(['/impression']);
    await lateServer.close();
  });

  test('requests to an unreachable host are sent in order after it recovers', async () => {
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

  test('only billing notices are retried after an error response', async () => {
    const heldResponses: ServerResponse[] = [];
    let noticeCount = 0;
    const faultyServer = await startTrackerServer((path, response) => {
      if (path === '/hang') heldResponses.push(response);
      else if (path === '/reset') response.destroy();
      else if (path === '/burl') {
        noticeCount += 1;
        response.writeHead(noticeCount < 3 ? 503 : 200).end();
      } else if (path === '/loop') response.writeHead(302, { location: '/loop' }).end();
      else if (path === '/moved') response.writeHead(302, { location: '/target' }).end();
      else if (path === '/private')
        response.writeHead(302, { location: 'http://10.0.0.1/secret' }).end();
      else response.writeHead(path === '/error' ? 500 : 204).end();
    });
    const names = ['hang', 'reset', 'error', 'loop', 'moved', 'private'];
    const decision = await decide('odd', {
      byEvent: { impression: names.map((name) => `${faultyServer.url}/${name}`) },
      burl: `${faultyServer.url}/burl`,
    });
    await watch(decision);
    const readRows = () =>
      game.service.database.query<object>(
        `SELECT tracker, state, reason, status FROM tracker_requests WHERE decision_id = $1 ORDER BY tracker`,
        [decision.id],
      );
    await pollLater(readRows).toEqual([
      { tracker: 'burl/0', state: 'sent', reason: null, status: 200 },
      { tracker: 'impression/0', state: 'failed', reason: 'timeout', status: null },
      { tracker: 'impression/1', state: 'failed', reason: 'connection', status: null },
      { tracker: 'impression/2', state: 'failed', reason: 'status', status: 500 },
      { tracker: 'impression/3', state: 'failed', reason: 'status', status: 302 },
      { tracker: 'impression/4', state: 'sent', reason: null, status: 204 },
      { tracker: 'impression/5', state: 'failed', reason: 'blocked_address', status: null },
    ]);
    const countRequests = (path: string) =>
      faultyServer.paths().filter((requestPath) => requestPath === path).length;
    expect(
      ['/hang', '/reset', '/error', '/moved', '/target', '/private'].map(countRequests),
    ).toEqual(Array(6).fill(1));
    expect(countRequests('/loop')).toBeLessThanOrEqual(4);
    expect(countRequests('/burl')).toBe(3);
    for (const response of heldResponses) response.destroy();
    await faultyServer.close();
  }, 60_000);

  test('reports contain the revenue and tracker counts of verified impressions', async () => {
    const fromMs = Math.floor(game.clock.nowMs() / 3_600_000) * 3_600_000;
    const readReport = async () => {
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
    const reportBefore = await readReport();
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
    await game.report(game.createEvent(unseenDecision, 'start'));
    await expect.poll(readReport).toEqual({
      ...reportBefore,
      all: expect.any(Number) as number,
      eur: reportBefore.eur + 2,
      sent: reportBefore.sent + 5,
    });
  });

  test('a decision with a house ad does not access the external demand tables', async () => {
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

  test('duplicate events do not fire trackers again', async () => {
    const decision = await decide('lost-response', {
      byEvent: createTrackers('impression', 'complete'),
      burl: `${server.url}/burl`,
    });
    await game.report(game.createEvent(decision, 'start'));
    game.advance(5_000);
    const events = [game.createImpression(decision), game.createCompletion(decision)];
    const { database } = game.service;
    const { transaction } = database;
    vi.spyOn(database, 'transaction').mockImplementationOnce(async (work, options) => {
      await transaction(work, options);
      throw new Error('The connection was lost after the commit.');
    });
    await game.report(...events);
    const { decisions } = await game.report(...events);
    vi.restoreAllMocks();
    expect(decisions[0]?.state).toBe('earned');
    // The dispatcher was not notified, so it finds the requests in its next poll.
    await pollLater(async () => Object.values(await readRequests(decision))).toEqual(
      Array(3).fill('sent'),
    );
    expect(server.paths().toSorted()).toEqual(['/burl', '/complete', '/impression']);
  });

  test('auction notices are sent without player data', async () => {
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
  evidence: null,
  invalid_reason: null,
  simulate: null,
  user_ref: null,
  viewer: null,
  child_directed: false,
  custom_data: null,
  explain: null,
  late_at: null,
};
