import type { Webhook } from '@trueward/protocol/wire';
import type { Logger } from 'pino';
import type { Scope, Database } from '../store/database.ts';
import type { Lane } from '../store/group-commit.ts';
import { attempt, type AttemptParts, hasArrived, leaseMs } from './attempt.ts';
import {
  type ConcurrencyWindow,
  createConcurrencyWindow,
  initialConcurrency,
} from './concurrency-window.ts';
import { claimDue, type DueDelivery, release, type Room, type Share } from './delivery-store.ts';
import { type Failing, shouldDisable } from './endpoint-health.ts';
import type { EndedAttempt, Next } from './record-attempts.ts';
import { retryDelayMs } from './schedule.ts';
import type { AttemptResult } from './sender.ts';

interface Parts extends AttemptParts {
  database: Database;
  log: Logger;
  /** Records attempts, many in one transaction. */
  lane: Lane<EndedAttempt, Failing | undefined>;
  /** The endpoint; undefined when it was deleted or disabled. */
  findWebhook(scope: Scope, id: string): Promise<Webhook | undefined>;
  /** Called after every attempt with its outcome: `delivered`, `failed`, or `retried` later. */
  onAttempt(outcome: string, seconds: number): void;
  /** Disables an endpoint that answered 410 Gone, or that has failed for days. */
  disable(scope: Scope, webhookId: string, reason: 'gone' | 'failing'): Promise<void>;
  random(): number;
}

export interface Dispatcher {
  /** Looks for due deliveries now rather than at the next poll. */
  wake(): void;
  /** Lets attempts end for a moment, then aborts them and releases their deliveries. */
  stop(): Promise<void>;
}

/** An endpoint that this process sends to, or sent to a moment ago. Times are monotonic. */
interface Endpoint {
  accountId: string;
  webhookId: string;
  window: ConcurrencyWindow;
  /** Requests without an answer: what was answered takes no slot while it is recorded. */
  inFlight: number;
  /** Free slots that the last claim did not use. */
  unclaimed: number;
  /** The last claim took all that there was room for, so more is probably due. */
  hasMore: boolean;
  /** Until when the endpoint asked to be left alone. */
  pausedUntilMs: number;
  /** Attempts that began before were made before it was disabled. */
  disabledAtMs: number;
  usedAtMs: number;
}

/** Attempts in flight or being recorded, of all endpoints together. */
const maxInFlight = 1_000;
/** Other processes queue deliveries too, and leases expire. */
const pollMs = 1_000;
/** Minimum time between two claims for new deliveries, so that at high rates each takes many. */
const claimIntervalMs = 25;
/** Minimum time between two claims while a backlog waits for free slots, which should not stay idle. */
const backlogIntervalMs = 5;
/** How long an idle endpoint keeps its window, in milliseconds. */
const idleMs = 60_000;
/** How long a stop waits for attempts: most endpoints answer within it, and need not get the event again. */
const stopGraceMs = 1_000;

/** Delivers what is due until it is stopped. Several processes may do so on one database. */
export function startDispatcher(parts: Parts): Dispatcher {
  const { clock, database, log } = parts;
  const nowMs = clock.monotonicMs;
  const endpoints = new Map<string, Endpoint>();
  const attempts = new Set<Promise<void>>();
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
    timer = setTimeout(run, Math.max(0, atMs - nowMs()));
  };
  const wake = (): void => claimAt(Math.max(nowMs(), claimableAtMs));
  const refill = (): void => claimAt(Math.max(nowMs(), refillableAtMs));

  const run = (): void => {
    nextClaimAtMs = Infinity;
    // One at a time; what this one may have missed, the next one finds.
    if (claiming) return void claiming.then(refill);
    const startedMs = nowMs();
    claimableAtMs = startedMs + claimIntervalMs;
    refillableAtMs = startedMs + backlogIntervalMs;
    claiming = claim()
      .catch((error: unknown) => log.error({ err: error }, 'deliveries could not be read'))
      .finally(() => {
        claiming = undefined;
        // It visits every endpoint: where there are many, it takes at most half of a connection’s time.
        refillableAtMs = Math.max(refillableAtMs, 2 * nowMs() - startedMs);
        claimableAtMs = Math.max(claimableAtMs, refillableAtMs);
        claimAt(nowMs() + pollMs);
      });
  };

  const claim = async (): Promise<void> => {
    const atMs = nowMs();
    for (const [key, { inFlight, pausedUntilMs, usedAtMs }] of endpoints)
      if (inFlight === 0 && atMs - Math.max(usedAtMs, pausedUntilMs) > idleMs)
        endpoints.delete(key);
    const limit = maxInFlight - attempts.size;
    const rooms = roomsOf([...endpoints.values()], limit, atMs);
    const shares = sharesOf([...endpoints.values()], limit);
    const perAccount = shareOf(limit, 0);
    const due = {
      rooms,
      perEndpoint: initialConcurrency,
      shares,
      perAccount,
      limit,
      leaseMs,
    };
    const claimed = limit > 0 ? await claimDue(database, due) : [];
    for (const { accountId, webhookId, free } of rooms) {
      const endpoint = endpointOf({ accountId, webhookId });
      endpoint.unclaimed = free;
      // Where there was no room, nothing was learned about what is due.
      if (free > 0) endpoint.hasMore = false;
    }
    const left = new Map(shares.map(({ accountId, free }) => [accountId, free]));
    for (const { accountId } of claimed)
      left.set(accountId, (left.get(accountId) ?? perAccount) - 1);
    for (const delivery of claimed) {
      const endpoint = endpointOf(delivery);
      endpoint.unclaimed -= 1;
      const isShareUsedUp = (left.get(delivery.accountId) ?? 0) <= 0;
      endpoint.hasMore = endpoint.unclaimed <= 0 || isShareUsedUp || claimed.length >= limit;
      start(endpoint, delivery);
    }
  };

  const endpointOf = ({
    accountId,
    webhookId,
  }: Pick<Room, 'accountId' | 'webhookId'>): Endpoint => {
    const key = `${accountId} ${webhookId}`;
    const known = endpoints.get(key);
    if (known) return known;
    const opened: Endpoint = {
      accountId,
      webhookId,
      window: createConcurrencyWindow(),
      inFlight: 0,
      unclaimed: initialConcurrency,
      hasMore: false,
      pausedUntilMs: -Infinity,
      disabledAtMs: -Infinity,
      usedAtMs: nowMs(),
    };
    endpoints.set(key, opened);
    return opened;
  };

  const start = (endpoint: Endpoint, delivery: DueDelivery): void => {
    const startedMs = nowMs();
    endpoint.inFlight += 1;
    let isInFlight = true;
    const leave = (): void => {
      if (!isInFlight) return;
      isInFlight = false;
      endpoint.inFlight -= 1;
      endpoint.usedAtMs = nowMs();
      // Each claim costs a statement, so it waits until a quarter of the window is free.
      const isPaused = endpoint.pausedUntilMs > nowMs();
      const free = endpoint.window.size - endpoint.inFlight;
      if (endpoint.hasMore && !isPaused && free >= endpoint.window.size / 4) refill();
    };
    const onResult = (result: AttemptResult): void => {
      const sample = { startedMs, endedMs: nowMs(), overloaded: isOverloaded(result) };
      const isBottleneck = endpoint.hasMore || endpoint.inFlight >= endpoint.window.size;
      endpoint.window.record(sample, isBottleneck);
      if (!hasArrived(result) && result.retryAfterMs !== undefined)
        endpoint.pausedUntilMs = Math.max(endpoint.pausedUntilMs, nowMs() + result.retryAfterMs);
      leave();
    };
    const disable = async (reason: 'gone' | 'failing'): Promise<void> => {
      if (startedMs < endpoint.disabledAtMs) return;
      endpoint.disabledAtMs = nowMs();
      await parts.disable(scopeOf(delivery), delivery.webhookId, reason);
    };
    const attempted = deliver({ ...parts, disable, onResult }, delivery, aborting.signal)
      .then((next) => {
        if (next?.state === 'pending') claimAt(nowMs() + next.delayMs);
      })
      .catch((error: unknown) =>
        log.error({ err: error, deliveryId: delivery.id }, 'a delivery could not be recorded'),
      )
      .finally(() => {
        leave();
        attempts.delete(attempted);
        // Where the bound on all endpoints held a claim back, the next one may go.
        if (endpoint.hasMore && attempts.size + 1 === maxInFlight) refill();
      });
    attempts.add(attempted);
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
      clearTimeout(grace);
    },
  };
}

type Occupied = Pick<Endpoint, 'accountId' | 'webhookId' | 'inFlight' | 'pausedUntilMs'> & {
  window: Pick<ConcurrencyWindow, 'size'>;
};

/**
 * How many deliveries each endpoint may get. The endpoints of an account may hold no more slots than are free:
 * one account gets half of all, two get a third each, and there is always room for another.
 */
export function roomsOf(endpoints: readonly Occupied[], free: number, atMs: number): Room[] {
  const inFlight = new Map<string, number>();
  for (const each of endpoints)
    inFlight.set(each.accountId, (inFlight.get(each.accountId) ?? 0) + each.inFlight);
  return endpoints.map(({ accountId, webhookId, window, ...endpoint }) => {
    const share = free - (inFlight.get(accountId) ?? 0);
    const isPaused = endpoint.pausedUntilMs > atMs;
    const room = isPaused ? 0 : Math.min(window.size - endpoint.inFlight, share);
    return { accountId, webhookId, free: Math.max(0, room) };
  });
}

/** How many deliveries each account that has endpoints here may get, those of endpoints not seen yet included. */
function sharesOf(
  endpoints: readonly Pick<Endpoint, 'accountId' | 'inFlight'>[],
  free: number,
): Share[] {
  const inFlight = new Map<string, number>();
  for (const each of endpoints)
    inFlight.set(each.accountId, (inFlight.get(each.accountId) ?? 0) + each.inFlight);
  return [...inFlight].map(([accountId, held]) => ({ accountId, free: shareOf(free, held) }));
}

/** What an account may take so that it then holds no more slots than are free. */
const shareOf = (free: number, held: number): number => Math.max(0, Math.ceil((free - held) / 2));

/** Whether the endpoint did not keep up, rather than refusing this event. */
const isOverloaded = ({ status }: AttemptResult): boolean =>
  status === undefined || status === 429 || status === 503;

const scopeOf = ({ accountId, environment }: DueDelivery): Scope => ({ accountId, environment });

interface DeliverParts extends Omit<Parts, 'disable'> {
  /** Called as soon as the request has ended. */
  onResult(result: AttemptResult): void;
  disable(reason: 'gone' | 'failing'): Promise<void>;
}

/** Makes an attempt and records it; returns what follows from it, or undefined when it was not made. */
async function deliver(
  { clock, database, lane, onResult, ...parts }: DeliverParts,
  delivery: DueDelivery,
  aborting: AbortSignal,
): Promise<Next | undefined> {
  const scope = scopeOf(delivery);
  const webhook = await parts.findWebhook(scope, delivery.webhookId);
  if (!webhook) {
    const error = 'the webhook is deleted or disabled';
    const result: AttemptResult = { startedAtMs: clock.nowMs(), latencyMs: 0, error };
    const next: Next = { state: 'failed' };
    await lane.push({ scope, delivery, result, next, wasSent: false });
    return next;
  }
  const result = await attempt({ clock, ...parts }, webhook, delivery, aborting);
  if (aborting.aborted && result.status === undefined) {
    await release(database, delivery);
    return undefined;
  }
  const wasSent = result.notSent !== true;
  if (wasSent) onResult(result);
  const next = follow(result, delivery.attempt + 1, parts.random());
  parts.onAttempt(next.state === 'pending' ? 'retried' : next.state, result.latencyMs / 1_000);
  const failing = await lane.push({ scope, delivery, result, next, wasSent });
  if (result.status === 410) await parts.disable('gone');
  else if (shouldDisable(failing, clock.nowMs())) await parts.disable('failing');
  return next;
}

/** What follows from an attempt. */
function follow(result: AttemptResult, attempts: number, random: number): Next {
  if (hasArrived(result)) return { state: 'delivered' };
  const delayMs = result.status === 410 ? undefined : retryDelayMs(attempts, random);
  if (delayMs === undefined) return { state: 'failed' };
  return { state: 'pending', delayMs: Math.max(delayMs, result.retryAfterMs ?? 0) };
}
