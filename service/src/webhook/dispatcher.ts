import type { Webhook } from '@trueward/protocol/wire';
import type { Logger } from 'pino';
import type { Scope } from '../resource/scope.ts';
import type { Database } from '../store/database.ts';
import type { Lane } from '../store/group-commit.ts';
import { attempt, type AttemptParts, hasArrived, leaseMs } from './attempt.ts';
import {
  type ConcurrencyWindow,
  createConcurrencyWindow,
  initialConcurrency,
} from './concurrency-window.ts';
import { claimDue, type DueDelivery, release, type Room } from './delivery-store.ts';
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
  /** Ends running attempts and releases their deliveries. */
  stop(): Promise<void>;
}

/** An endpoint that this process sends to, or sent to a moment ago. Times are monotonic. */
interface Endpoint {
  accountId: string;
  webhookId: string;
  window: ConcurrencyWindow;
  inFlight: number;
  /** Free slots that the last claim did not use. */
  unclaimed: number;
  /** The last claim took all that there was room for, so more is probably due. */
  hasMore: boolean;
  /** Until when the endpoint asked to be left alone. */
  pausedUntilMs: number;
  usedAtMs: number;
}

/** Attempts in flight, of all endpoints together. */
const maxInFlight = 1_000;
/** Other processes queue deliveries too, and leases expire. */
const pollMs = 1_000;
/** Least time between two claims: at high rates each takes many deliveries. */
const claimIntervalMs = 10;
/** How long an idle endpoint keeps its window, in milliseconds. */
const idleMs = 60_000;

/** Delivers what is due until it is stopped. Several processes may do so on one database. */
export function startDispatcher(parts: Parts): Dispatcher {
  const { clock, database, log } = parts;
  const nowMs = clock.monotonicMs;
  const endpoints = new Map<string, Endpoint>();
  const attempts = new Set<Promise<void>>();
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let nextClaimAtMs = Infinity;
  let claimedAtMs = -Infinity;
  let claiming: Promise<void> | undefined;

  const claimAt = (atMs: number): void => {
    if (stopping.signal.aborted || atMs >= nextClaimAtMs) return;
    clearTimeout(timer);
    nextClaimAtMs = atMs;
    timer = setTimeout(run, Math.max(0, atMs - nowMs()));
  };
  const wake = (): void => claimAt(Math.max(nowMs(), claimedAtMs + claimIntervalMs));

  const run = (): void => {
    nextClaimAtMs = Infinity;
    // One at a time; what this one may have missed, the next one finds.
    if (claiming) return void claiming.then(wake);
    claimedAtMs = nowMs();
    claiming = claim()
      .catch((error: unknown) => log.error({ err: error }, 'deliveries could not be read'))
      .finally(() => {
        claiming = undefined;
        claimAt(nowMs() + pollMs);
      });
  };

  const claim = async (): Promise<void> => {
    const atMs = nowMs();
    for (const [key, { inFlight, usedAtMs }] of endpoints)
      if (inFlight === 0 && atMs - usedAtMs > idleMs) endpoints.delete(key);
    const rooms = [...endpoints.values()].map((endpoint) => roomOf(endpoint, atMs));
    const limit = maxInFlight - attempts.size;
    const due = { rooms, perEndpoint: initialConcurrency, limit, leaseMs };
    const claimed = limit > 0 ? await claimDue(database, due) : [];
    for (const { accountId, webhookId, free } of rooms) {
      const endpoint = endpointOf({ accountId, webhookId });
      endpoint.unclaimed = free;
      // Where there was no room, nothing was learned about what is due.
      if (free > 0) endpoint.hasMore = false;
    }
    for (const delivery of claimed) {
      const endpoint = endpointOf(delivery);
      endpoint.unclaimed -= 1;
      endpoint.hasMore = endpoint.unclaimed <= 0 || claimed.length >= limit;
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
      pausedUntilMs: 0,
      usedAtMs: nowMs(),
    };
    endpoints.set(key, opened);
    return opened;
  };

  const start = (endpoint: Endpoint, delivery: DueDelivery): void => {
    const startedMs = nowMs();
    endpoint.inFlight += 1;
    const onResult = (result: AttemptResult): void => {
      const sample = { startedMs, endedMs: nowMs(), overloaded: isOverloaded(result) };
      endpoint.window.record(sample, endpoint.inFlight);
      endpoint.pausedUntilMs = nowMs() + (result.retryAfterMs ?? 0);
    };
    const attempted = deliver(parts, delivery, stopping.signal, onResult)
      .then((next) => {
        if (next?.state === 'pending') claimAt(nowMs() + next.delayMs);
      })
      .catch((error: unknown) =>
        log.error({ err: error, deliveryId: delivery.id }, 'a delivery could not be recorded'),
      )
      .finally(() => {
        attempts.delete(attempted);
        endpoint.inFlight -= 1;
        endpoint.usedAtMs = nowMs();
        // Each claim costs a statement, so it waits until a quarter of the window is free.
        if (endpoint.hasMore && roomOf(endpoint, nowMs()).free >= endpoint.window.size / 4) wake();
      });
    attempts.add(attempted);
  };

  wake();
  return {
    wake,
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await claiming;
      await Promise.all(attempts);
    },
  };
}

const roomOf = (
  { accountId, inFlight, pausedUntilMs, webhookId, window }: Endpoint,
  atMs: number,
): Room => ({
  accountId,
  webhookId,
  free: pausedUntilMs > atMs ? 0 : Math.max(0, window.size - inFlight),
});

/** Whether the endpoint did not keep up, rather than refusing this event. */
const isOverloaded = ({ status }: AttemptResult): boolean =>
  status === undefined || status === 429 || status === 503;

/** Makes an attempt and records it; returns what follows from it, or undefined when it was not made. */
async function deliver(
  { clock, database, lane, ...parts }: Parts,
  delivery: DueDelivery,
  stopping: AbortSignal,
  onResult: (result: AttemptResult) => void,
): Promise<Next | undefined> {
  const { accountId, environment, webhookId } = delivery;
  const scope: Scope = { accountId, environment };
  const webhook = await parts.findWebhook(scope, webhookId);
  if (!webhook) {
    const error = 'the webhook is deleted or disabled';
    const result = { startedAtMs: clock.nowMs(), latencyMs: 0, error };
    const next: Next = { state: 'failed' };
    await lane.push({ scope, delivery, result, next, wasSent: false });
    return next;
  }
  const result = await attempt({ clock, ...parts }, webhook, delivery, stopping);
  if (stopping.aborted && result.status === undefined) {
    await release(database, delivery);
    return undefined;
  }
  onResult(result);
  const next = follow(result, delivery.attempt + 1, parts.random());
  parts.onAttempt(next.state === 'pending' ? 'retried' : next.state, result.latencyMs / 1_000);
  const failing = await lane.push({ scope, delivery, result, next, wasSent: true });
  if (result.status === 410) await parts.disable(scope, webhookId, 'gone');
  else if (shouldDisable(failing, clock.nowMs())) await parts.disable(scope, webhookId, 'failing');
  return next;
}

/** What follows from an attempt. */
function follow(result: AttemptResult, attempts: number, random: number): Next {
  if (hasArrived(result)) return { state: 'delivered' };
  const delayMs = result.status === 410 ? undefined : retryDelayMs(attempts, random);
  if (delayMs === undefined) return { state: 'failed' };
  return { state: 'pending', delayMs: Math.max(delayMs, result.retryAfterMs ?? 0) };
}
