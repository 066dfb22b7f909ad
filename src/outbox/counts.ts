import type { DropReason, OutboxDiagnostics } from './outbox.ts';

/** How much a store holds. */
export interface Size {
  events: number;
  /** Length of the stored JSON, in UTF-16 units. */
  bytes: number;
}

/** Never below zero: messages of other tabs can come late. */
export const grow = (size: Size, events: number, bytes: number): void => {
  size.events = Math.max(0, size.events + events);
  size.bytes = Math.max(0, size.bytes + bytes);
};
export const add = (counts: Record<string, number>, name: string, count: number): void => {
  if (count > 0) counts[name] = (counts[name] ?? 0) + count;
};

export interface Counts {
  /** What the tabs share, and what this tab has in memory. */
  shared: Size;
  own: Size;
  diagnostics: OutboxDiagnostics;
  drop(reason: DropReason, count: number): void;
  /** Returns the drops not yet reported to the service; from now on they count as reported. */
  takeUnreportedDrops(): Record<string, number> | undefined;
  /** Marks drops as unreported again, because their report failed. */
  requeueDrops(dropped: Record<string, number>): void;
  report(): OutboxDiagnostics;
}

/** Counts what waits and what became of the rest, for the game's diagnostics and for the service. */
export function createCounts(): Counts {
  const shared = { events: 0, bytes: 0 };
  const own = { events: 0, bytes: 0 };
  const diagnostics: OutboxDiagnostics = {
    storage: 'indexeddb',
    stored: 0,
    sent: 0,
    dropped: {},
    rejected: {},
  };
  let unreportedDrops: Record<string, number> = {};
  return {
    shared,
    own,
    diagnostics,
    drop(reason, count) {
      add(diagnostics.dropped, reason, count);
      add(unreportedDrops, reason, count);
    },
    takeUnreportedDrops() {
      const dropped = unreportedDrops;
      unreportedDrops = {};
      return Object.keys(dropped).length > 0 ? dropped : undefined;
    },
    requeueDrops(dropped) {
      for (const [reason, count] of Object.entries(dropped)) add(unreportedDrops, reason, count);
    },
    report: () => ({
      ...diagnostics,
      dropped: { ...diagnostics.dropped },
      rejected: { ...diagnostics.rejected },
      stored: shared.events + own.events,
    }),
  };
}
