import type { Webhook } from '@trueward/protocol/wire';
import type { Logger } from 'pino';
import type { Scope } from '../resource/scope.ts';
import { attempt, type AttemptParts, hasArrived, leaseMs } from './attempt.ts';
import {
  claim,
  readDue,
  readNextDue,
  recordAttempt,
  release,
  type DueDelivery,
  type Next,
} from './delivery-store.ts';
import { isBeyondHope, recordHealth } from './endpoint-health.ts';
import { retryDelayMs } from './schedule.ts';
import type { AttemptResult } from './sender.ts';

interface Parts extends AttemptParts {
  log: Logger;
  /** The endpoint; undefined when it was deleted or disabled. */
  findWebhook(scope: Scope, id: string): Promise<Webhook | undefined>;
  /** Told of every attempt and of what came of it: `delivered`, `failed`, or `retried` later. */
  onAttempt(outcome: string, seconds: number): void;
  /** Takes an endpoint out of use that said that it is gone, or has failed for days. */
  disable(scope: Scope, webhookId: string, reason: 'gone' | 'failing'): Promise<void>;
  random(): number;
}

export interface Dispatcher {
  /** Says that there may be something to deliver. */
  wake(): void;
  /** Ends running attempts and gives their deliveries back. */
  stop(): Promise<void>;
}

/** One endpoint gets so many requests at a time: a slow one holds up itself only. */
const perWebhook = 4;
/** Deliveries that are begun at a time. */
const atOnce = 100;
const pollMs = 1_000;

/** Delivers what is due until it is stopped. Several processes may do so on one database. */
export function startDispatcher(parts: Parts): Dispatcher {
  const { database, log } = parts;
  const running = new Map<string, { webhookId: string; done: Promise<void> }>();
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> | undefined;
  let again = false;

  const startDue = async (): Promise<void> => {
    const due = await readDue(database, perWebhook, atOnce);
    const idle = due.filter(({ id }) => !running.has(id));
    const claimed = await claim(database, withRoom(idle, [...running.values()]), leaseMs);
    // There may be more than were read.
    if (due.length === atOnce && claimed.length > 0) again = true;
    for (const delivery of claimed) {
      const done = deliver(parts, delivery, stopping.signal)
        .catch((error: unknown) =>
          log.error({ err: error, deliveryId: delivery.id }, 'a delivery could not be recorded'),
        )
        .finally(() => {
          running.delete(delivery.id);
          wake();
        });
      running.set(delivery.id, { webhookId: delivery.webhookId, done });
    }
    const nextInMs = (await readNextDue(database)) ?? pollMs;
    schedule(Math.min(Math.max(nextInMs, 20), pollMs));
  };

  const schedule = (delayMs: number): void => {
    clearTimeout(timer);
    if (!stopping.signal.aborted) timer = setTimeout(wake, delayMs);
  };

  const wake = (): void => {
    if (stopping.signal.aborted) return;
    again = true;
    round ??= (async () => {
      while (again) {
        again = false;
        await startDue();
      }
    })()
      .catch((error: unknown) => {
        log.error({ err: error }, 'deliveries could not be read');
        schedule(pollMs);
      })
      .finally(() => {
        round = undefined;
      });
  };

  wake();
  return {
    wake,
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await round;
      await Promise.all([...running.values()].map(({ done }) => done));
    },
  };
}

/** Those whose endpoints are not busy with as many as they get. */
function withRoom(due: readonly DueDelivery[], running: readonly { webhookId: string }[]) {
  const busy = new Map<string, number>();
  const begin = (webhookId: string): number => {
    const count = (busy.get(webhookId) ?? 0) + 1;
    busy.set(webhookId, count);
    return count;
  };
  for (const { webhookId } of running) begin(webhookId);
  return due.filter(({ webhookId }) => begin(webhookId) <= perWebhook);
}

async function deliver(parts: Parts, delivery: DueDelivery, stopping: AbortSignal): Promise<void> {
  const { database, clock } = parts;
  const { accountId, environment, webhookId } = delivery;
  const scope: Scope = { accountId, environment };
  const webhook = await parts.findWebhook(scope, webhookId);
  if (!webhook) {
    const result = {
      startedAtMs: clock.nowMs(),
      latencyMs: 0,
      error: 'the webhook is deleted or disabled',
    };
    return database.transaction((queries) =>
      recordAttempt(queries, delivery, result, { state: 'failed' }),
    );
  }
  const result = await attempt(parts, webhook, delivery, stopping);
  if (stopping.aborted && result.status === undefined) return release(database, delivery);
  const next = follow(result, delivery.attempt + 1, parts.random());
  parts.onAttempt(next.state === 'pending' ? 'retried' : next.state, result.latencyMs / 1_000);
  const failing = await database.transaction(async (queries) => {
    await recordAttempt(queries, delivery, result, next);
    return recordHealth(queries, delivery, next.state === 'delivered', clock.nowMs());
  });
  if (result.status === 410) await parts.disable(scope, webhookId, 'gone');
  else if (isBeyondHope(failing, clock.nowMs())) await parts.disable(scope, webhookId, 'failing');
}

/** What follows from an attempt. */
function follow(result: AttemptResult, attempts: number, random: number): Next {
  if (hasArrived(result)) return { state: 'delivered' };
  const delayMs = result.status === 410 ? undefined : retryDelayMs(attempts, random);
  return delayMs === undefined ? { state: 'failed' } : { state: 'pending', delayMs };
}
