import {
  claimRequests,
  type FinishedRequest,
  recordEnded,
  sweepRequests,
} from '../../src/demand/tracker/request-store.ts';
import { firstIdAt } from '../../src/platform/ids.ts';
import type { Queries } from '../../src/store/database.ts';
import { makeId, makeName } from '../tenant-rows.ts';
import { accountId, place } from '../twin-accounts.ts';
import { clock, type WriteCases } from './write-case.ts';

const now = '2026-06-01T12:00:00Z';
const before = '2026-06-01T11:59:59Z';
const later = '2026-06-01T12:00:01Z';
/** The requests of the home account's sandbox are due now, those of its live environment later, those of others before. */
const waiting = [
  `UPDATE tracker_requests SET state = 'pending', host = 'a.example', lease_until = NULL, at_least_once = false,
    reached = false, attempt = 1, place = right(tracker, 1)::integer, late_at = '2099-01-01T00:00:00Z',
    next_at = CASE WHEN account_id <> '${accountId}' THEN timestamptz '${before}'
      WHEN environment = 'live' THEN timestamptz '${later}' ELSE timestamptz '${now}' END`,
];
/** Changes the nth request of the home account's sandbox. */
const change = (n: number, values: string): string =>
  `UPDATE tracker_requests SET ${values}
    WHERE account_id = '${accountId}' AND environment = 'sandbox' AND right(tracker, 1) = '${n}'`;
const decisionId = makeId('decision', place);
/** Makes all of them requests of one decision. Those of the other environment and account keep their ids. */
const ofOneDecision = [
  ...waiting,
  ...[2, 3].map((n) => change(n, `decision_id = '${decisionId}'`)),
];

const trackerOf = (n: number): string => makeName({ ...place, n });
const keyOf = (n: number, id = makeId('decision', { ...place, n })): string =>
  `tracker_requests ${id} ${trackerOf(n)}`;

const claim = (queries: Queries, options: object = {}) =>
  claimRequests(queries, {
    accountId,
    hosts: [],
    perHost: 10,
    limit: 10,
    leaseMs: 60_000,
    sinceId: firstIdAt('decision', 0),
    nowMs: clock.nowMs(),
    ...options,
  });
const record = (queries: Queries, outcome: FinishedRequest['outcome'], attempt = 1) => {
  const request = { decisionId, tracker: trackerOf(1), attempt, environment: 'sandbox' };
  return recordEnded(queries, accountId, [
    { request, outcome, atMs: clock.nowMs() } as FinishedRequest,
  ]);
};
const sent = { state: 'sent', status: 200 } as const;

/** Requests to the trackers of ads. */
export const trackerWrites: WriteCases = {
  'claiming the requests that are due': {
    prepare: [...waiting, change(2, `next_at = '${later}'`), change(3, `state = 'sent'`)],
    write: (queries) => claim(queries),
    changes: [keyOf(1)],
  },
  'claiming again only what must be sent at least once': {
    prepare: [
      ...waiting,
      change(1, `lease_until = '${now}', at_least_once = true`),
      change(2, `lease_until = '${now}'`),
      change(3, `lease_until = '${later}', at_least_once = true`),
    ],
    write: (queries) => claim(queries),
    changes: [keyOf(1)],
  },
  'claiming no request before an earlier one of its decision to the same host': {
    prepare: [...ofOneDecision, change(2, `host = 'b.example'`)],
    write: (queries) => claim(queries),
    changes: [keyOf(1), keyOf(2, decisionId)],
  },
  'claiming a request after an earlier one that was sent': {
    prepare: [...ofOneDecision, change(1, `state = 'sent'`)],
    write: (queries) => claim(queries),
    changes: [keyOf(2, decisionId)],
  },
  'claiming a request after an earlier one that reached the host': {
    prepare: [...ofOneDecision, change(1, `reached = true, next_at = '${later}'`)],
    write: (queries) => claim(queries),
    changes: [keyOf(2, decisionId)],
  },
  'claiming what a host has room for': {
    prepare: [...waiting, change(2, `next_at = '${before}'`), change(3, `host = 'b.example'`)],
    write: (queries) => claim(queries, { hosts: [{ host: 'a.example', free: 1 }], perHost: 0 }),
    changes: [keyOf(2)],
  },
  'claiming what every other host has room for': {
    prepare: [...waiting, change(2, `host = 'b.example'`), change(3, `host = 'b.example'`)],
    write: (queries) => claim(queries, { hosts: [{ host: 'a.example', free: 0 }], perHost: 1 }),
    changes: [keyOf(2)],
  },
  'claiming no more than the limit, of each host in turn': {
    prepare: [...waiting, change(2, `next_at = '${before}'`), change(3, `host = 'b.example'`)],
    write: (queries) => claim(queries, { limit: 2 }),
    changes: [keyOf(2), keyOf(3)],
  },
  'claiming no request of an old decision': {
    prepare: waiting,
    write: (queries) =>
      claim(queries, { sinceId: firstIdAt('decision', Date.parse('2100-01-01T00:00:00Z')) }),
    changes: [],
  },
  'recording that a request was sent': {
    prepare: ofOneDecision,
    write: (queries) => record(queries, sent),
    changes: [keyOf(1), 'rollup_deltas (new)'],
  },
  'recording that a request will be repeated': {
    prepare: ofOneDecision,
    write: (queries) => record(queries, { state: 'pending', reached: true, delayMs: 1_000 }),
    changes: [keyOf(1)],
  },
  'recording a request that another process has repeated': {
    prepare: ofOneDecision,
    write: (queries) => record(queries, sent, 2),
    changes: [],
  },
  'recording a request that has ended': {
    prepare: [...ofOneDecision, change(1, `state = 'late'`)],
    write: (queries) => record(queries, sent),
    changes: [],
  },
  'ending late and interrupted requests': {
    prepare: [
      ...waiting,
      change(1, `late_at = '${now}'`),
      change(2, `lease_until = '${now}'`),
      change(3, `late_at = '${now}', lease_until = '${later}'`),
    ],
    write: (queries) => sweepRequests(queries, firstIdAt('decision', 0), clock.nowMs()),
    changes: [keyOf(1), keyOf(2), 'rollup_deltas (new)', 'rollup_deltas (new)'],
  },
  'ending no request that goes on': {
    prepare: [
      ...waiting,
      change(1, `late_at = '${later}'`),
      change(2, `lease_until = '${now}', at_least_once = true`),
      change(3, `late_at = '${now}', state = 'sent'`),
    ],
    write: (queries) => sweepRequests(queries, firstIdAt('decision', 0), clock.nowMs()),
    changes: [],
  },
};
