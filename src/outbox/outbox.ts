import type { AdEvent, RewardStatus } from '../../protocol/wire.ts';

/** An event before the outbox gives it its id and time. */
export type NewAdEvent = Omit<AdEvent, 'id' | 'occurred_at'>;

/** Takes events and sees to it that the service gets each of them once, whatever happens to the page. */
export interface Outbox {
  /** Loads the code that sends, so that the first event does not wait for it. */
  prefetch(): void;
  /**
   * Resolves when the event is stored; from then on it survives the page and the browser. It also
   * resolves when the event was given up at once, which `diagnostics()` counts. The event happens now,
   * even if its write has to wait for `after`.
   */
  enqueue(event: NewAdEvent, after?: Promise<unknown>): Promise<void>;
  /** Sends what is stored; resolves when the queue is empty or sending has failed. */
  flush(): Promise<void>;
  /**
   * The rewards that came back with an acknowledgement, also when another tab got it. The function
   * that it returns ends this.
   */
  onRewards(listener: (rewards: RewardStatus[]) => void): () => void;
  diagnostics(): OutboxDiagnostics;
  /** Sends nothing any more; what is enqueued afterwards is still stored, for the next page. */
  destroy(): void;
}

/** Every event is counted under `stored` until it is under one of `sent`, `dropped` and `rejected`. */
export interface OutboxDiagnostics {
  /** `memory` while the browser refuses a database: events do not survive the page then. */
  storage: 'indexeddb' | 'memory';
  /** Events that wait, those of other tabs included. */
  stored: number;
  /** Events of this tab and others that this tab delivered. */
  sent: number;
  /** Events that were given up, by reason. */
  dropped: Partial<Record<DropReason, number>>;
  /** Events that the service refused, by its code. */
  rejected: Record<string, number>;
  lastError?: string;
}

/** Why events were given up; `unreadable` counts records, since nobody knows what was in them. */
export type DropReason = 'too_many' | 'too_large' | 'unreadable';
