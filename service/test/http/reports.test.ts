import fc from 'fast-check';
import { reportMetrics } from '@trueward/protocol';
import type { AdEvent, Problem, Report } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { type Client, createClient } from './client.ts';
import { ownRows } from '../neighbor.ts';

let runningService: InProcessService;
let client: Client;
beforeAll(async () => {
  runningService = await startInProcess({ RATE_LIMITS: 'off' });
  client = createClient(runningService);
});
afterAll(() => runningService.stop());

const hourMs = 3_600_000;
const formatHour = (offset: number) =>
  new Date((Math.floor(Date.now() / hourMs) + offset) * hourMs).toISOString();
const createPath = (rest = '') => `/v1/reports?from=${formatHour(-24)}&to=${formatHour(2)}${rest}`;
const readReport = async (rest?: string) =>
  (await client.call<Report>('GET', createPath(rest), client.secret)).body;

/** Computes the expected sums by counting decisions and events. */
async function recount(): Promise<Record<string, number>> {
  const rows = await runningService.service.database.query<{ metric: string; count: number }>(
    `WITH own AS (SELECT * FROM decisions WHERE environment = 'sandbox' AND ${ownRows})
      SELECT 'requests' AS metric, count(*)::bigint AS count FROM own
      UNION ALL SELECT status, count(*)::bigint FROM own GROUP BY status
      UNION ALL SELECT 'impressions', count(*)::bigint FROM own WHERE served_at IS NOT NULL
      UNION ALL SELECT 'rewards_' || reward_state, count(*)::bigint FROM own
        WHERE reward_state IN ('earned', 'denied', 'expired') GROUP BY reward_state
      UNION ALL SELECT CASE type WHEN 'viewable' THEN type WHEN 'third_quartile' THEN 'third_quartiles'
          WHEN 'first_quartile' THEN 'first_quartiles' ELSE type || 's' END, count(*)::bigint
        FROM recorded_events e JOIN own ON own.account_id = e.account_id AND own.id = e.decision_id
        WHERE type NOT IN ('impression', 'skip', 'close', 'error') GROUP BY type`,
  );
  const counts = Object.fromEntries(rows.map(({ metric, count }) => [metric, count]));
  return Object.fromEntries(reportMetrics.map((name) => [name, counts[name] ?? 0]));
}

const sum = ({ data }: Report): Record<string, number> =>
  Object.fromEntries(
    reportMetrics.map((name) => [name, data.reduce((total, row) => total + row[name], 0)]),
  );

const step = fc.record({
  placement: fc.constantFrom('revive', 'level-end', 'lobby'),
  simulate: fc.option(fc.constantFrom('no_fill', 'blocked', 'killed'), { nil: undefined }),
  events: fc.array(
    fc.constantFrom<AdEvent['type'][]>(
      'start',
      'viewable',
      'first_quartile',
      'complete',
      'click',
      'error',
    ),
    { maxLength: 6 },
  ),
});

test('report sums match a recount of decisions and events for every grouping', async () => {
  let userCount = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      await Promise.all(
        steps.map(async ({ placement, simulate, events }) => {
          const { body } = await client.decide({
            placement,
            user_ref: `user-${(userCount += 1)}`,
            ...(simulate === undefined ? {} : { simulate }),
          });
          if (body.status !== 'filled' || events.length === 0) return;
          await client.report(
            ...events.map((type) => client.createEvent(body, type, { watched_ms: 1 })),
          );
        }),
      );
      const expected = await recount();
      expect(sum(await readReport())).toEqual(expected);
      expect(
        sum(
          await readReport(
            '&interval=hour&group_by=placement,creative,source,advertiser,house_ad,reason',
          ),
        ),
      ).toEqual(expected);
    }),
    { numRuns: 15 },
  );
});

test('unfilled requests are counted by reason', async () => {
  await client.decide({ placement: 'lobby', simulate: 'killed' });
  const [row] = (await readReport()).data;
  expect(row?.reasons.no_fill['killed']).toBeGreaterThan(0);
  const killedRow = (await readReport('&group_by=reason')).data.find(
    ({ reason }) => reason === 'killed',
  );
  expect(killedRow?.no_fill).toBe(row?.reasons.no_fill['killed']);
  expect(killedRow?.requests).toBe(0);
});

test('a report that is limited to some values equals their part of the whole report', async () => {
  const filters = ['placement', 'creative', 'source', 'advertiser', 'house_ad'] as const;
  let compared = 0;
  for (const name of filters) {
    const whole = (await readReport(`&group_by=${name}`)).data;
    for (const value of new Set(whole.map((row) => row[name] ?? '').filter(Boolean))) {
      const part = whole.filter((row) => row[name] === value);
      expect((await readReport(`&group_by=${name}&${name}=${value}`)).data).toEqual(part);
      compared += 1;
    }
  }
  expect(compared).toBeGreaterThanOrEqual(filters.length);
  const { data } = await readReport('&placement=revive,lobby&group_by=placement');
  expect(new Set(data.map(({ placement }) => placement))).toEqual(new Set(['revive', 'lobby']));
  expect((await readReport('&placement=revive&creative=crv_unknown')).data).toEqual([]);
});

test('days start at midnight in the requested time zone', async () => {
  await runningService.service.database.query(
    `INSERT INTO rollups SELECT account_id, 'sandbox', '2026-01-01T23:00:00Z', 'night', '', '', '', '', 'no_fill', 'killed', 7
      FROM accounts WHERE name = 'Demo'`,
  );
  const readPeriods = async (tz: string) =>
    (
      await client.call<Report>(
        'GET',
        `/v1/reports?from=2026-01-01T00:00:00Z&to=2026-01-03T00:00:00Z&tz=${tz}`,
        client.secret,
      )
    ).body.data.map(({ period, requests }) => [period, requests]);
  expect(await readPeriods('UTC')).toEqual([['2026-01-01T00:00:00.000Z', 7]]);
  expect(await readPeriods('Europe/Berlin')).toEqual([['2026-01-01T23:00:00.000Z', 7]]);
});

test('a rate has as many digits as it needs, and is missing if nothing was counted', async () => {
  const counts = { filled: 3, no_fill: 4, impressions: 2, starts: 0, completes: 0 };
  for (const [metric, count] of Object.entries(counts))
    await runningService.service.database.query(
      `INSERT INTO rollups SELECT account_id, 'sandbox', '2026-02-01T12:00:00Z', 'rates', '', '', '', '', $1, '', $2
        FROM accounts WHERE name = 'Demo'`,
      [metric, count],
    );
  const { body } = await client.call<Report>(
    'GET',
    '/v1/reports?from=2026-02-01T00:00:00Z&to=2026-02-02T00:00:00Z',
    client.secret,
  );
  const rates = Object.entries(body.data[0] ?? {}).filter(([name]) => name.endsWith('_rate'));
  expect(Object.fromEntries(rates)).toEqual({ fill_rate: 0.4286, view_through_rate: 0.6667 });
});

test('a report is available as CSV', async () => {
  const response = await fetch(runningService.url + createPath('&group_by=placement&format=csv'), {
    headers: { authorization: `Bearer ${client.secret}` },
  });
  expect(response.headers.get('content-type')).toContain('text/csv');
  const [header, ...lines] = (await response.text()).trimEnd().split('\r\n');
  expect(header).toMatch(/^period,placement,requests,filled,no_fill,/);
  expect(lines.length).toBe((await readReport('&group_by=placement')).data.length);
});

test.each([
  ['from=2026-01-01T00:30:00Z&to=2026-01-02T00:00:00Z', '/from'],
  ['from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', '/to'],
  ['from=2020-01-01T00:00:00Z&to=2026-01-01T00:00:00Z', '/to'],
  ['from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&tz=Mars/Base', '/tz'],
  ...['%2B05:30', 'SST', 'IST', 'EST5EDT', 'Japan', 'posix/Europe/Berlin', 'utc', ''].map((tz) => [
    `from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&tz=${tz}`,
    '/tz',
  ]),
  ['from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&group_by=name', '/group_by'],
])('the report %s is rejected', async (query, pointer) => {
  const { status, body } = await client.call<Problem>('GET', `/v1/reports?${query}`, client.secret);
  expect([status, body.errors?.[0]?.pointer]).toEqual([422, pointer]);
});
