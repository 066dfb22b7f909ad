/** An event as it is stored and sent: serialized once, when it happened. */
export interface QueuedEvent {
  id: string;
  json: string;
}

/** The limits of one request. `bytes` is the length of the events' JSON, in UTF-16 units. */
export interface BatchLimits {
  events: number;
  bytes: number;
}

/** Limits of every release of the service: 100 events and 64 KiB, less room for the envelope. */
export const smallBatch: BatchLimits = { events: 100, bytes: 60_000 };
/** `keepalive` bodies of a page may have 64 KiB in flight together, other scripts included. */
export const keepaliveBytes = 15_000;

/** Length of stored events, in UTF-16 units. */
export const lengthOf = (events: string[]): number =>
  events.reduce((sum, json) => sum + json.length, 0);

/** Splits the events of one task into records, each small enough for a request of its own. */
export function groupEvents(events: QueuedEvent[]): string[][] {
  const groups: string[][] = [];
  let bytes = 0;
  for (const { json } of events) {
    const group = groups.at(-1);
    bytes += json.length;
    // 64 to a record: 20 times fewer writes in a burst than one by one (docs/outbox.md).
    if (group && group.length < 64 && bytes <= smallBatch.bytes) group.push(json);
    else {
      groups.push([json]);
      bytes = json.length;
    }
  }
  return groups;
}
