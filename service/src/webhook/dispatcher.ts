import type { Webhook } from '@trueward/protocol/wire';
import type { Logger } from 'pino';
import type { Scope, Database } from '../store/database.ts';
import type { Lane } from '../store/group-commit.ts';
import { attempt, type AttemptDeps } from './attempt.ts';
import {
  type ConcurrencyWindow,
  createConcurrencyWindow,
  initialConcurrency,
  isUnavailable,
  type RequestEnd,
} from '../platform/concurrency-window.ts';
import {
  type AccountCapacity,
  claimDue,
  type DueDelivery,
  type EndpointCapacity,
  release,
} from './delivery-store.ts';
import { type ConsecutiveFailures, shouldDisable } from './endpoint-health.ts';
import { leaseMs, startLeases } from './leases.ts';
import type { FinishedAttempt } from './record-attempts.ts';
import { isDelivered, nextState, type NextState } from './retry-schedule.ts';
import type { AttemptResult } from './sender.ts';

interface Deps extends AttemptDeps {
  database: Database;
  log: Logger;
  /** Records attempts in batches. */
  lane: Lane<FinishedAttempt, ConsecutiveFailures | undefined>;
  /** Finds an enabled webhook. Resolves to undefined if the webhook was deleted or disabled. */
  findWebhook(scope: Scope, id: string): Promise<Webhook | undefined>;
  /**
   * Called after each attempt with its outcome: `delivered`, `failed`, or `retried` if there will be another attempt.
   */
  onAttempt(outcome: string, seconds: number): void;
  /** Disables an endpoint that returned 410 Gone or has failed for days. */
  disable(scope: Scope, webhookId: string, reason: 'gone' | 'failing'): Promise<void>;
  random(): number;
}

export interface Dispatcher {
  /** Claims due deliveries without waiting for the next poll. */
  wake(): void;
  /** Waits up to 1 s for attempts in flight, then aborts them and releases their deliveries. */
  stop(): Promise<void>;
}

/** An endpoint with recent deliveries from this process. Times come from a monotonic clock. */
interface Endpoint {
  accountId: string;
  webhookId: string;
  /** Knows the requests in flight. An attempt isn't among them while its result is being recorded. */
  window: ConcurrencyWindow;
  /** Number of free slots that the last claim did not fill. */
  unclaimedSlots: number;
  /** Whether the last claim filled all free slots, which means that more deliveries are probably due. */
  hasMore: boolean;
  /** No requests are made before this time, because the endpoint sent `Retry-After`. */
  pausedUntilMs: number;
  /** When this process disabled the endpoint. Attempts that started earlier don't disable it again. */
  disabledAtMs: number;
  usedAtMs: number;
}

/** Maximum number of attempts across all endpoints, including attempts that are being recorded. */
const maxInFlight = 1_000;
/** How often to poll for deliveries from other processes and for expired leases. */
const pollMs = 1_000;
/** Minimum interval between claims for new deliveries. At high rates, each claim then covers many deliveries. */
const claimIntervalMs = 25;
/** Minimum interval between claims while there is a backlog. Short, because free slots should not stay idle. */
const backlogIntervalMs = 5;
/** How long to keep an idle endpoint's window. */
const idleMs = 60_000;
/** How long `stop()` waits for attempts in flight. Most attempts finish in this time and don't have to be repeated. */
const stopGraceMs = 1_000;

/** Delivers due webhook events until `stop` is called. Safe to run in several processes. */
export function startDispatcher(deps: Deps): Dispatcher {
  const { clock, database, log } = deps;
  const nowMs = clock.monotonicMs;
  const endpoints = new Map<string, Endpoint>();
  const attempts = new Set<Promise<void>>();
  const leases = startLeases(deps);
  const aborting = new AbortController();
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let nextClaimAtMs = Infinity;
  let claimableAtMs = -Infinity;
  let refillableAtMs = -Infinity;
  let claiming: Promise<void> | undefined;

  const claimAt = (atMs: number): void => {
    if (stopped || atMs >= nextClaimAtMs) return;
    clearTimeout(timer);
    nextClaimAtMs = atMs;
    timer = setTimeout(startClaim, Math.max(0, atMs - nowMs()));
  };
  const wake = (): void => claimAt(Math.max(nowMs(), claimableAtMs));
  const refill = (): void => claimAt(Math.max(nowMs(), refillableAtMs));

  /** Claims the endpoint's next deliveries now, or when hung requests have freed its slots. */
  const refillEndpoint = ({ hasMore, pausedUntilMs, window }: Endpoint): void => {
    if (!hasMore || pausedUntilMs > nowMs()) return;
    if (window.countFree(nowMs()) > 0) refill();
    else claimAt(Math.max(window.nextHangAtMs(), claimableAtMs));
  };

  const startClaim = (): void => {
    nextClaimAtMs = Infinity;
    // Only one claim runs at a time. The next claim picks up any deliveries that this one misses.
    if (claiming) return void claiming.then(refill);
    const startedAtMs = nowMs();
    claimableAtMs = startedAtMs + claimIntervalMs;
    refillableAtMs = startedAtMs + backlogIntervalMs;
    claiming = claimDeliveries()
      .catch((error: unknown) => log.error({ err: error }, 'could not claim deliveries'))
      .finally(() => {
        claiming = undefined;
        // A claim visits every endpoint, so it is slow if there are many. Claims must not keep a connection busy more
        // than half the time.
        refillableAtMs = Math.max(refillableAtMs, 2 * nowMs() - startedAtMs);
        claimableAtMs = Math.max(claimableAtMs, refillableAtMs);
        claimAt(nowMs() + pollMs);
        for (const endpoint of endpoints.values())
          if (endpoint.window.countFree(nowMs()) === 0) refillEndpoint(endpoint);
      });
  };

  const claimDeliveries = async (): Promise<void> => {
    const atMs = nowMs();
    for (const [key, { window, pausedUntilMs, usedAtMs }] of endpoints)
      if (window.inFlight === 0 && atMs - Math.max(usedAtMs, pausedUntilMs) > idleMs)
        endpoints.delete(key);
    const limit = maxInFlight - attempts.size;
    const endpointSlots = computeEndpointCapacities([...endpoints.values()], limit, atMs);
    const accountSlots = computeAccountCapacities([...endpoints.values()], limit);
    const perAccount = computeAccountLimit(limit, 0);
    const claimOptions = {
      endpoints: endpointSlots,
      perEndpoint: initialConcurrency,
      accounts: accountSlots,
      perAccount,
      limit,
      leaseMs,
      nowMs: clock.nowMs(),
    };
    const claimedDeliveries = limit > 0 ? await claimDue(database, claimOptions) : [];
    for (const { accountId, webhookId, free } of endpointSlots) {
      const endpoint = getEndpoint({ accountId, webhookId });
      endpoint.unclaimedSlots = free;
      // A claim doesn't show whether more deliveries are due for endpoints without free slots.
      if (free > 0) endpoint.hasMore = false;
    }
    const remaining = new Map(accountSlots.map(({ accountId, free }) => [accountId, free]));
    for (const { accountId } of claimedDeliveries)
      remaining.set(accountId, (remaining.get(accountId) ?? perAccount) - 1);
    for (const delivery of claimedDeliveries) {
      const endpoint = getEndpoint(delivery);
      endpoint.unclaimedSlots -= 1;
      const isAccountFull = (remaining.get(delivery.accountId) ?? 0) <= 0;
      endpoint.hasMore =
        endpoint.unclaimedSlots <= 0 || isAccountFull || claimedDeliveries.length >= limit;
      start(endpoint, delivery);
    }
  };

  const getEndpoint = ({
    accountId,
    webhookId,
  }: Pick<EndpointCapacity, 'accountId' | 'webhookId'>): Endpoint => {
    const key = `${accountId} ${webhookId}`;
    const existing = endpoints.get(key);
    if (existing) return existing;
    const newEndpoint: Endpoint = {
      accountId,
      webhookId,
      window: createConcurrencyWindow(),
      unclaimedSlots: initialConcurrency,
      hasMore: false,
      pausedUntilMs: -Infinity,
      disabledAtMs: -Infinity,
      usedAtMs: nowMs(),
    };
    endpoints.set(key, newEndpoint);
    return newEndpoint;
  };

  const start = (endpoint: Endpoint, delivery: DueDelivery): void => {
    if (!leases.hold(delivery)) return;
    const startedAtMs = nowMs();
    const { window } = endpoint;
    const request = window.start(startedAtMs);
    let isInFlight = true;
    const freeSlot = (end: RequestEnd): void => {
      if (!isInFlight) return;
      isInFlight = false;
      window.end(request, end, nowMs(), endpoint.hasMore);
      endpoint.usedAtMs = nowMs();
      // Waits until a quarter of the window is free, because each claim requires a database statement.
      if (window.countFree(nowMs()) >= window.size / 4) refillEndpoint(endpoint);
    };
    const onResult = (result: AttemptResult): boolean => {
      if (!isDelivered(result) && result.retryAfterMs !== undefined)
        endpoint.pausedUntilMs = Math.max(endpoint.pausedUntilMs, nowMs() + result.retryAfterMs);
      freeSlot(isOverloaded(result) ? 'failed' : 'ok');
      return isOverloaded(result) && window.isWell;
    };
    const disable = async (reason: 'gone' | 'failing'): Promise<void> => {
      if (startedAtMs < endpoint.disabledAtMs) return;
      endpoint.disabledAtMs = nowMs();
      await deps.disable(getScope(delivery), delivery.webhookId, reason);
    };
    const running = deliver(deps, delivery, { onResult, disable, aborting: aborting.signal })
      .then((next) => {
        if (next?.state === 'pending') claimAt(nowMs() + next.delayMs);
      })
      .catch((error: unknown) =>
        log.error({ err: error, deliveryId: delivery.id }, 'could not record a delivery attempt'),
      )
      .finally(() => {
        freeSlot('unknown');
        leases.drop(delivery);
        attempts.delete(running);
        // The limit for all endpoints had been reached. Now a slot is free again.
        if (endpoint.hasMore && attempts.size + 1 === maxInFlight) refill();
      });
    attempts.add(running);
  };

  wake();
  return {
    wake,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      const grace = setTimeout(() => aborting.abort(), stopGraceMs);
      await claiming;
      await Promise.all(attempts);
      leases.stop();
      clearTimeout(grace);
    },
  };
}

type EndpointLoad = Pick<Endpoint, 'accountId' | 'webhookId' | 'pausedUntilMs'> & {
  window: Pick<ConcurrencyWindow, 'inFlight' | 'countFree'>;
};

/**
 * Returns how many more deliveries each endpoint may receive. An account never uses more slots than remain free for
 * others. A single account can therefore use half of the slots, two accounts a third each, and so on.
 */
export function computeEndpointCapacities(
  endpoints: readonly EndpointLoad[],
  free: number,
  atMs: number,
): EndpointCapacity[] {
  const inFlight = countInFlight(endpoints);
  return endpoints.map(({ accountId, webhookId, window, pausedUntilMs }) => {
    const accountFree = free - (inFlight.get(accountId) ?? 0);
    const slots = pausedUntilMs > atMs ? 0 : Math.min(window.countFree(atMs), accountFree);
    return { accountId, webhookId, free: Math.max(0, slots) };
  });
}

/** Returns how many more deliveries each known account may receive in total, including those to new endpoints. */
function computeAccountCapacities(
  endpoints: readonly EndpointLoad[],
  free: number,
): AccountCapacity[] {
  return [...countInFlight(endpoints)].map(([accountId, used]) => ({
    accountId,
    free: computeAccountLimit(free, used),
  }));
}

/** Counts the requests in flight by account, including hung ones. */
function countInFlight(endpoints: readonly EndpointLoad[]): Map<string, number> {
  const inFlight = new Map<string, number>();
  for (const { accountId, window } of endpoints)
    inFlight.set(accountId, (inFlight.get(accountId) ?? 0) + window.inFlight);
  return inFlight;
}

/** Returns how many more slots an account may use, so that it never uses more slots than remain free for others. */
const computeAccountLimit = (free: number, used: number): number =>
  Math.max(0, Math.ceil((free - used) / 2));

/** Whether the endpoint wasn't available or couldn't keep up. Other failures may be caused by the event itself. */
const isOverloaded = ({ status }: AttemptResult): boolean =>
  status === undefined || isUnavailable(status);

const getScope = ({ accountId, environment }: DueDelivery): Scope => ({ accountId, environment });

interface DeliverOptions {
  /**
   * Called when the request has finished, before the attempt is recorded. Returns whether the failure is probably
   * passing, because the endpoint handles other requests well.
   */
  onResult(result: AttemptResult): boolean;
  /** Disables this delivery's endpoint. */
  disable(reason: 'gone' | 'failing'): Promise<void>;
  aborting: AbortSignal;
}

/**
 * Makes an attempt and records it. Resolves to the delivery's new state, or to undefined if the attempt was aborted.
 */
async function deliver(
  deps: Deps,
  delivery: DueDelivery,
  { onResult, disable, aborting }: DeliverOptions,
): Promise<NextState | undefined> {
  const { clock, database, lane } = deps;
  const scope = getScope(delivery);
  const webhook = await deps.findWebhook(scope, delivery.webhookId);
  if (!webhook) {
    const error = 'the webhook was deleted or disabled';
    const result: AttemptResult = { startedAtMs: clock.nowMs(), latencyMs: 0, error };
    const next: NextState = { state: 'failed' };
    await lane.push({ scope, delivery, result, next, concernsHealth: false });
    return next;
  }
  const result = await attempt(deps, webhook, delivery, aborting);
  if (aborting.aborted && result.status === undefined) {
    await release(database, delivery);
    return undefined;
  }
  const wasSent = result.notSent !== true;
  const isPassing = wasSent && onResult(result);
  const next = nextState(result, delivery.attempt + 1, deps.random(), isPassing);
  deps.onAttempt(next.state === 'pending' ? 'retried' : next.state, result.latencyMs / 1_000);
  const concernsHealth = wasSent && !isPassing;
  const consecutiveFailures = await lane.push({ scope, delivery, result, next, concernsHealth });
  if (result.status === 410) await disable('gone');
  else if (shouldDisable(consecutiveFailures, clock.nowMs())) await disable('failing');
  return next;
}
