import type { Logger } from 'pino';
import type { Clock } from '../platform/time.ts';
import { type DueDelivery, renewLeases } from './delivery-store.ts';
import type { Queries } from '../store/database.ts';

/**
 * How long a lease lasts. While a delivery is in progress, its lease is renewed, so an expired lease means that its
 * process has died or has lost the database. Short, because other processes take over only then.
 */
export const leaseMs = 3_500;
const renewMs = 1_000;

/** The deliveries that this process has claimed and not yet recorded. */
export interface Leases {
  /**
   * Holds a delivery. Returns false if this process already holds it: its lease expired while the database was
   * unreachable, and it was claimed again.
   */
  hold(delivery: DueDelivery): boolean;
  drop(delivery: DueDelivery): void;
  stop(): void;
}

interface Deps {
  clock: Pick<Clock, 'nowMs'>;
  database: Pick<Queries, 'query'>;
  log: Pick<Logger, 'warn'>;
}

/** Renews the leases of deliveries that take longer than a second. */
export function startLeases({ clock, database, log }: Deps): Leases {
  const held = new Map<string, DueDelivery>();
  /** Deliveries that were already held at the last renewal. */
  let previous: readonly DueDelivery[] = [];
  let isRenewing = false;
  const getKey = ({ accountId, id }: DueDelivery): string => `${accountId} ${id}`;
  const timer = setInterval(() => {
    const old = previous.filter((delivery) => held.get(getKey(delivery)) === delivery);
    previous = [...held.values()];
    if (old.length === 0 || isRenewing) return;
    isRenewing = true;
    renewLeases(database, old, { leaseMs, nowMs: clock.nowMs() })
      .catch((error: unknown) => log.warn({ err: error }, 'could not renew leases of deliveries'))
      .finally(() => (isRenewing = false));
  }, renewMs);
  timer.unref();
  return {
    hold(delivery) {
      const key = getKey(delivery);
      if (held.has(key)) return false;
      held.set(key, delivery);
      return true;
    },
    drop: (delivery) => void held.delete(getKey(delivery)),
    stop: () => clearInterval(timer),
  };
}
