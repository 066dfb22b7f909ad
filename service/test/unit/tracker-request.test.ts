import { expect, test } from 'vitest';
import {
  makeRequest,
  type RequestDeps,
  type TrackerRequest,
} from '../../src/demand/tracker/make-request.ts';
import type { DueRequest } from '../../src/demand/tracker/request-store.ts';

// What a tracker's server learns about the player.

const due: DueRequest = {
  accountId: 'acc_1',
  environment: 'live',
  decisionId: 'dec_1',
  tracker: 'impression/0',
  host: 't.example',
  attempt: 1,
  atLeastOnce: false,
  client: JSON.stringify({ ip: '203.0.113.7', userAgent: 'Player/1 (ü)' }),
  isLate: false,
  isInvalid: false,
  url: 'https://t.example/?limited=[LIMITADTRACKING]&ip=[DEVICEIP]',
  macros: {},
  headerProfile: 'iab',
  limitAdTracking: false,
  placement: 'revive',
  servedAt: null,
  creativeId: 'crv_1',
  sourceId: 'src_1',
  advertiserId: 'adv_1',
};

/** Makes the request. Returns what was sent, and its outcome. */
async function make(changes: Partial<DueRequest>, deps: Partial<RequestDeps> = {}) {
  const sent: TrackerRequest[] = [];
  const { outcome } = await makeRequest(
    {
      clock: { nowMs: () => 0, monotonicMs: () => 0 },
      random: () => 0.5,
      async send(request) {
        sent.push(request);
        return { status: 204 };
      },
      box: { open: (sealed) => sealed },
      isKilled: () => false,
      development: false,
      ...deps,
    },
    { ...due, ...changes },
    new AbortController().signal,
  );
  return { sent: sent[0], outcome };
}

const own = 'Trueward/1';
const nobody = { client: '{}' };
test.each<[string, Partial<DueRequest>, url: string, headers: object]>([
  [
    'of a player who may be tracked',
    {},
    'limited=0&ip=203.0.113.7',
    { 'user-agent': own, 'x-device-ip': '203.0.113.7', 'x-device-user-agent': 'Player/1 ()' },
  ],
  [
    'of a player who may not',
    { ...nobody, limitAdTracking: true },
    'limited=1&ip=-1',
    { 'user-agent': own },
  ],
  // Where the decision doesn't say it, the player may not be tracked.
  [
    'of whom nothing is known',
    { client: null, limitAdTracking: null },
    'limited=1&ip=-1',
    { 'user-agent': own },
  ],
  [
    'in the other headers',
    { headerProfile: 'forwarded' },
    'limited=0&ip=203.0.113.7',
    { 'user-agent': 'Player/1 ()', 'x-forwarded-for': '203.0.113.7' },
  ],
  [
    'in the other headers, if nothing is known',
    { ...nobody, headerProfile: 'forwarded' },
    'limited=0&ip=-1',
    { 'user-agent': own },
  ],
  [
    'that is a notice to a source whose ad was not chosen',
    { ...nobody, macros: null },
    'limited=[LIMITADTRACKING]&ip=[DEVICEIP]',
    { 'user-agent': own },
  ],
])('a tracker is requested %s', async (_, changes, query, headers) => {
  const { sent, outcome } = await make(changes);
  expect(outcome).toEqual({ state: 'sent', status: 204 });
  expect(sent).toEqual({ url: `https://t.example/?${query}`, headers, loopback: false });
});

test.each<[string, Partial<DueRequest>, Partial<RequestDeps>, object]>([
  ['is late', { isLate: true }, {}, { state: 'late' }],
  [
    'is of invalid traffic',
    { isInvalid: true },
    {},
    { state: 'failed', reason: 'invalid_traffic' },
  ],
  [
    'is stopped by a kill switch',
    {},
    { isKilled: () => true },
    { state: 'failed', reason: 'killed' },
  ],
  ['has lost its decision', { url: null }, {}, { state: 'failed', reason: 'unreadable' }],
  [
    'has a player who can’t be decrypted',
    {},
    {
      box: {
        open: () => {
          throw new Error('another key');
        },
      },
    },
    { state: 'failed', reason: 'unreadable' },
  ],
])('a tracker that %s is not requested', async (_, changes, deps, outcome) => {
  expect(await make(changes, deps)).toEqual({ sent: undefined, outcome });
});
