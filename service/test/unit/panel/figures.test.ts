import type { KillSwitch, ReportRow } from '@trueward/protocol/wire';
import { expect, test } from 'vitest';
import { findDifferences } from '../../../panel/src/activity/differences.ts';
import { addUploadedFile } from '../../../panel/src/creative/uploaded-media.ts';
import { listKillTargets, buildStopRequest } from '../../../panel/src/kill-switch/kill-targets.ts';
import {
  countNoAdReasons,
  sumRevenue,
  sumRows,
  toPoints,
  makeTimeRange,
} from '../../../panel/src/figures/figures.ts';
import { describePolicy } from '../../../panel/src/policy/describe-policy.ts';

const nowMs = Date.parse('2026-11-21T17:20:00.000Z');
const noReasons: ReportRow['reasons'] = {
  no_fill: {},
  blocked: {},
  rewards_denied: {},
  rewards_expired: {},
  trackers_failed: {},
  revenue_micros: {},
};
const row = (period: string, overrides: Partial<ReportRow>): ReportRow => ({
  ...(Object.fromEntries(
    ['requests', 'filled', 'impressions', 'starts', 'completes'].map((name) => [name, 0]),
  ) as unknown as ReportRow),
  rewards_earned: 0,
  rewards_denied: 0,
  rewards_expired: 0,
  reasons: noReasons,
  ...overrides,
  period,
});

test('the previous time range ends where the current one begins', () => {
  const week = makeTimeRange('week', nowMs);
  expect([week.from, week.to].map((time) => time.toISOString())).toEqual([
    '2026-11-15T00:00:00.000Z',
    '2026-11-22T00:00:00.000Z',
  ]);
  expect(makeTimeRange('week', nowMs, 1).to).toEqual(week.from);
  expect(makeTimeRange('day', nowMs).periods.at(-1)).toBe('2026-11-21T17:00:00.000Z');
});

test('revenue is summed by currency, highest first', () => {
  const hour = (micros: Record<string, number>) =>
    row('2026-11-21T17:00:00.000Z', { reasons: { ...noReasons, revenue_micros: micros } });
  expect(sumRevenue([hour({ EUR: 10, USD: 40 }), hour({ EUR: 50 }), hour({})])).toEqual([
    { currency: 'EUR', micros: 60 },
    { currency: 'USD', micros: 40 },
  ]);
});

test('rates are percentages, or undefined if the denominator is zero', () => {
  expect(
    sumRows([
      row('a', { requests: 3, filled: 2, starts: 2, completes: 1 }),
      row('b', { rewards_earned: 2, rewards_denied: 1 }),
    ]),
  ).toMatchObject({ requests: 3, fill: 66.7, completion: 50, reward: 66.7 });
  expect(sumRows([])).not.toHaveProperty('fill');
});

test('a plot includes days without requests and the corresponding days of the previous period', () => {
  const days = ['2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z'];
  const previousDays = ['2026-11-18T00:00:00.000Z', '2026-11-19T00:00:00.000Z'];
  const points = toPoints(days, [row('2026-11-21T00:00:00.000Z', { requests: 4 })], previousDays, [
    row('2026-11-18T00:00:00.000Z', { requests: 7 }),
  ]);
  expect(points.map(({ requests, previous }) => [requests, previous?.requests])).toEqual([
    [0, 7],
    [4, 0],
  ]);
});

test('no-ad reasons are summed over all rows, most frequent first', () => {
  const reasons = (no_fill: Record<string, number>, blocked: Record<string, number>) => ({
    reasons: { ...noReasons, no_fill, blocked },
  });
  expect(
    countNoAdReasons([
      row('a', reasons({ budget: 1 }, { policy: 2 })),
      row('b', reasons({ budget: 4 }, {})),
    ]),
  ).toEqual([
    { reason: 'budget', count: 5 },
    { reason: 'policy', count: 2 },
  ]);
});

test('a policy is described in a sentence', () => {
  const policy = {
    placements: ['revive', 'lobby'],
    when: { countries: ['DE', 'FR'], child_directed: true },
    block: { advertisers: ['adv_1'], formats: ['video' as const] },
  };
  expect(describePolicy(policy, () => 'Meadow')).toBe(
    'On revive or lobby, when the country is Germany or France and the game is directed at children: blocks ads by Meadow, and the format video.',
  );
});

test('stopping a target reuses its kill switch that is off', () => {
  const targetLists = {
    placement: [{ id: 'plc_1', name: 'revive' }],
    advertiser: [{ id: 'adv_1', name: 'Aral' }],
    source: [],
  };
  const killSwitch = (id: string, overrides: Partial<KillSwitch>) =>
    ({ id, state: 'on', scope: 'placement', target_id: 'revive', ...overrides }) as KillSwitch;
  const idleSwitch = killSwitch('ksw_1', {
    scope: 'advertiser',
    target_id: 'adv_1',
    state: 'off',
  });
  const both = [killSwitch('ksw_2', {}), killSwitch('ksw_3', { target_id: 'plc_1' })];
  const targets = listKillTargets(targetLists, [...both, idleSwitch]);
  expect(
    targets.map(({ name, activeSwitches }) => [name, activeSwitches.map(({ id }) => id)]),
  ).toEqual([
    ['revive', ['ksw_2', 'ksw_3']],
    ['Aral', []],
  ]);
  const advertiser = targets[1];
  if (advertiser === undefined) throw new Error('Expected a second target.');
  expect(buildStopRequest(advertiser, { reason: 'r', hours: 1 }, nowMs)).toEqual({
    path: '/v1/kill-switches/ksw_1',
    method: 'PATCH',
    body: { state: 'on', reason: 'r', expires_at: '2026-11-21T18:20:00.000Z' },
    ifMatch: '*',
  });
});

test('an uploaded file replaces an earlier file of the same type', () => {
  const file = (mime: string, url: string) => ({
    url,
    mime,
    sha256: '',
    bytes: 1,
    width: 640,
    height: 360,
    duration_ms: 12_000,
  });
  const first = addUploadedFile(file('video/mp4', '/a.mp4'), undefined);
  const second = addUploadedFile(file('video/webm', '/a.webm'), first);
  const third = addUploadedFile(file('video/mp4', '/b.mp4'), second);
  expect(third).toMatchObject({ format: 'video', duration_ms: 12_000 });
  expect('files' in third && third.files.map(({ url }) => url)).toEqual(['/a.webm', '/b.mp4']);
  expect(addUploadedFile(file('image/png', '/c.png'), third)).toMatchObject({ format: 'image' });
});

test('the diff between two versions contains only the changed fields', () => {
  expect(
    findDifferences({ id: 'a', name: 'x', block: { formats: ['video'] } }, { id: 'b', name: 'x' }),
  ).toEqual([{ name: 'block formats', from: 'video', to: undefined }]);
});
