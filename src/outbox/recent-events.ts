import type { QueuedEvent } from './batch.ts';

/** The youngest events that are not known to have arrived, as far as one leaving request can take them. */
export interface RecentEvents {
  add(event: QueuedEvent): void;
  remove(ids: string[]): void;
  /** All have arrived. */
  clear(): void;
  list(): QueuedEvent[];
}

/** Keeps at most `maxBytes` of JSON. */
export function createRecentEvents(maxBytes: number): RecentEvents {
  const events = new Map<string, QueuedEvent>();
  let total = 0;
  const drop = (id: string): void => {
    total -= events.get(id)?.json.length ?? 0;
    events.delete(id);
  };
  return {
    add(event) {
      events.set(event.id, event);
      total += event.json.length;
      while (total > maxBytes) drop(events.keys().next().value ?? '');
    },
    remove: (ids) => ids.forEach(drop),
    clear() {
      events.clear();
      total = 0;
    },
    list: () => Array.from(events.values()),
  };
}
