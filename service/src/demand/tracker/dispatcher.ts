import type { Logger } from 'pino';
import { firstIdAt } from '../../platform/ids.ts';
import type { Database, Scope } from '../../store/database.ts';
import type { Lane } from '../../store/group-commit.ts';
import { createScopedLanes, type LaneDeps } from '../../store/lanes.ts';
import {
  type ConcurrencyWindow,
  createConcurrencyWindow,
  initialConcurrency,
} from '../../platform/concurrency-window.ts';
import { type Attempt, makeRequest, type RequestDeps } from './make-request.ts';
import {
  claimRequests,
  type DueRequest,
  type FinishedRequest,
  type FailureReason,
  hasPending,
  listAccounts,
  recordEnded,
  sweepRequests,
} from './request-store.ts';

/** Counts requests that have ended or will be retried. `reason` is empty if they haven't failed. */
export type CountEnded = (
  outcome: 'sent' | 'failed' | 'late' | 'repeated',
  reason: FailureReason | '',
  count: number,
) => void;

interface Deps extends RequestDeps {
  database: Database;
  countEnded: CountEnded;
  log: Pick<Logger, 'error'>;
  lane: Lane<ScopedFinishedRequest, void>;
  /**
   * How long a lease lasts. Default: 20 s. Requests time out after 5 s, so an expired lease means that its process has
   * died.
   */
  leaseMs?: number;
}

/** A finished request and its scope, which selects the lane. */
interface ScopedFinishedRequest extends FinishedRequest {
  scope: Scope;
}

/** Creates the lanes that record finished requests in batches, per account and environment. */
export function createRequestLanes(
  database: Database,
  lanes: LaneDeps,
): Lane<ScopedFinishedRequest, void> {
  return createScopedLanes<ScopedFinishedRequest, void>(lanes, {
    async commit(items) {
      const [first] = items;
      if (first) await recordEnded(database, first.scope.accountId, items);
      return items.map(() => undefined);
    },
    // A short delay is acceptable, because only the same decision's later requests to the same host wait for the
    // outcome to be recorded.
    gatherMs: 25,
  });
}

export interface TrackerDispatcher {
  /** Claims the account's due requests without waiting for the next poll. */
  wake(accountId: string): void;
  /** Waits up to 1 s for requests in flight, then aborts them. */
  stop(): Promise<void>;
}

/** An account's requests to one host. Times come from a monotonic clock. */
interface Queue {
  accountId: string;
  host: string;
  window: ConcurrencyWindow;
  /** Number of consecutive pauses since the host was last reached. */
  pauses: number;
  /** The end of the current pause. No requests are made before this time, because the host was unreachable. */
  pausedUntilMs: number;
  usedAtMs: number;
}

/** Maximum number of requests in flight, including requests whose outcome is being recorded. */
const maxInFlight = 1_000;
/**
 * How often to poll for due requests: retries, requests to a host that has recovered, and requests left behind by a
 * process that has died.
 */
const pollMs = 1_000;
const sweepIntervalMs = 5_000;
/** Minimum interval between claims. At high rates, each claim then covers many requests. */
const claimIntervalMs = 25;
/** How long to keep an idle host's queue. */
const idleMs = 60_000;
/** How long `stop()` waits for requests in flight. */
const stopGraceMs = 1_000;
/** Maximum age of a decision that can have tracker requests. Events are accepted for up to a week. */
const maxDecisionAgeMs = 8 * 86_400_000;
/**
 * How long to pause requests to an unreachable host. Each pause is twice as long as the previous one, up to `longest`.
 */
const pauseLimitsMs = { first: 500, longest: 60_000 };

/** Makes due tracker requests until `stop` is called. Safe to run in several processes. */
export function startTrackerDispatcher(deps: Deps): TrackerDispatcher {
  const { clock, database, lane, log, leaseMs = 20_000 } = deps;
  const nowMs = clock.monotonicMs;
  const queues = new Map<string, Queue>();
  /** Accounts that may have due requests. */
  const wokenAccounts = new Set<string>();
  const requests = new Set<Promise<void>>();
  const aborting = new AbortController();
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let nextClaimAtMs = Infinity;
  let claimableAtMs = -Infinity;
  let pollAtMs = -Infinity;
  let sweptAtMs = -Infinity;
  let claiming: Promise<void> | undefined;

  const claimAt = (atMs: number): void => {
    if (stopped || atMs >= nextClaimAtMs) return;
    clearTimeout(timer);
    nextClaimAtMs = atMs;
    timer = setTimeout(startClaim, Math.max(0, atMs - nowMs()));
  };
  const claimSoon = (): void => claimAt(Math.max(nowMs(), claimableAtMs));
  const wake = (accountId: string): void => {
    wokenAccounts.add(accountId);
    claimSoon();
  };

  const startClaim = (): void => {
    nextClaimAtMs = Infinity;
    // Only one claim runs at a time. The next claim picks up any requests that this one misses.
    if (claiming) return void claiming.then(claimSoon);
    const startedAtMs = nowMs();
    claiming = claimDueRequests(startedAtMs)
      .catch((error: unknown) => log.error({ err: error }, 'could not claim tracker requests'))
      .finally(() => {
        claiming = undefined;
        // With many accounts and hosts, claims are slow. They must not keep a connection busy more than half the time.
        claimableAtMs = Math.max(startedAtMs + claimIntervalMs, 2 * nowMs() - startedAtMs);
        claimAt(pollAtMs);
      });
  };

  const claimDueRequests = async (atMs: number): Promise<void> => {
    const sinceId = firstIdAt('decision', Math.max(0, clock.nowMs() - maxDecisionAgeMs));
    for (const [key, { window, pausedUntilMs, usedAtMs }] of queues)
      if (window.inFlight === 0 && atMs - Math.max(usedAtMs, pausedUntilMs) > idleMs)
        queues.delete(key);
    if (atMs >= pollAtMs) {
      pollAtMs = atMs + pollMs;
      await poll(atMs, sinceId);
    }
    // Accounts that are woken during this claim wait for the next claim.
    for (const accountId of Array.from(wokenAccounts)) {
      const accountQueues = [...queues.values()].filter((queue) => queue.accountId === accountId);
      const usedSlots = accountQueues.reduce((sum, { window }) => sum + window.inFlight, 0);
      const limit = computeAccountLimit(maxInFlight - requests.size, usedSlots);
      // Keeps the account in the set, because a slot becomes free when the next request finishes.
      if (limit === 0) continue;
      wokenAccounts.delete(accountId);
      const hosts = accountQueues.map((queue) => ({
        host: queue.host,
        free: countFreeSlots(queue, atMs),
      }));
      const nowMs = clock.nowMs();
      const room = { hosts, perHost: initialConcurrency, limit };
      const options = { accountId, ...room, leaseMs, sinceId, nowMs };
      try {
        for (const request of await claimRequests(database, options)) start(request);
      } catch (error) {
        log.error({ err: error, accountId }, "could not claim an account's tracker requests");
      }
    }
  };

  const poll = async (atMs: number, sinceId: string): Promise<void> => {
    if (!(await hasPending(database, sinceId))) return;
    if (atMs - sweptAtMs >= sweepIntervalMs) {
      sweptAtMs = atMs;
      const { late, interrupted } = await sweepRequests(database, sinceId, clock.nowMs());
      if (late > 0) deps.countEnded('late', '', late);
      if (interrupted > 0) deps.countEnded('failed', 'interrupted', interrupted);
    }
    for (const accountId of await listAccounts(database, sinceId, clock.nowMs()))
      wokenAccounts.add(accountId);
  };

  const getQueue = ({ accountId, host }: Pick<Queue, 'accountId' | 'host'>): Queue => {
    const key = `${accountId} ${host}`;
    const existing = queues.get(key);
    if (existing) return existing;
    const created: Queue = {
      accountId,
      host,
      window: createConcurrencyWindow(),
      pauses: 0,
      pausedUntilMs: -Infinity,
      usedAtMs: nowMs(),
    };
    queues.set(key, created);
    return created;
  };

  const start = (due: DueRequest): void => {
    const queue = getQueue(due);
    const startedAtMs = nowMs();
    const request = queue.window.start(startedAtMs);
    const finish = ({ end, unreached }: Attempt): void => {
      const endedAtMs = nowMs();
      queue.usedAtMs = endedAtMs;
      queue.window.end(request, end, endedAtMs, false);
      if (!unreached) queue.pauses = 0;
      // Pauses the host only once if several concurrent requests fail.
      else if (startedAtMs >= queue.pausedUntilMs) {
        const pauseMs = pauseLimitsMs.first * 2 ** Math.min(queue.pauses, 10);
        queue.pauses += 1;
        queue.pausedUntilMs = endedAtMs + Math.min(pauseLimitsMs.longest, pauseMs);
      }
    };
    const running = makeRequest(deps, due, aborting.signal)
      .then((attempt) => {
        finish(attempt);
        const { outcome } = attempt;
        deps.countEnded(
          outcome.state === 'pending' ? 'repeated' : outcome.state,
          outcome.state === 'failed' ? outcome.reason : '',
          1,
        );
        const { accountId, environment } = due;
        const scope = { accountId, environment };
        return lane.push({ scope, request: due, outcome: attempt.outcome, atMs: clock.nowMs() });
      })
      // When its lease expires, the request is either retried or ended.
      .catch((error: unknown) =>
        log.error(
          { err: error, decisionId: due.decisionId, tracker: due.tracker },
          'could not record a tracker request',
        ),
      )
      .finally(() => {
        requests.delete(running);
        // Other requests to this host or for this decision may be due now.
        wake(due.accountId);
      });
    requests.add(running);
  };

  claimSoon();
  return {
    wake,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      const grace = setTimeout(() => aborting.abort(), stopGraceMs);
      await claiming;
      await Promise.all(requests);
      clearTimeout(grace);
    },
  };
}

/** Returns how many more requests may be made to a host. An unreachable host gets one request at a time. */
function countFreeSlots({ window, pauses, pausedUntilMs }: Queue, atMs: number): number {
  if (pausedUntilMs > atMs) return 0;
  return pauses > 0 ? Math.max(0, 1 - window.inFlight) : window.countFree(atMs);
}

/** Returns how many more slots an account may use, so that it never uses more slots than remain free for others. */
const computeAccountLimit = (free: number, used: number): number =>
  Math.max(0, Math.ceil((free - used) / 2));
