import type { AdEvent } from '../../protocol/wire.ts';

/** The youngest events that are not known to have arrived, as far as one leaving request can take them. */
export interface RecentEvents {
  add(event: AdEvent, bytes: number): void;
  remove(ids: string[]): void;
  list(): AdEvent[];
}

/** Keeps at most `maxBytes` of JSON. */
export function createRecentEvents(maxBytes: number): RecentEvents {
  const events = new Map<string, { event: AdEvent; bytes: number }>();
  let total = 0;
  const drop = (id: string): void => {
    total -= events.get(id)?.bytes ?? 0;
    events.delete(id);
  };
  return {
    add(event, bytes) {
      events.set(event.id, { event, bytes });
      total += bytes;
      while (total > maxBytes) drop(events.keys().next().value ?? '');
    },
    remove: (ids) => ids.forEach(drop),
    list: () => Array.from(events.values(), ({ event }) => event),
  };
}
