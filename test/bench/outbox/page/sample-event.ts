/** An event like those that a game reports. It is about as large as one of the outbox's own events. */
export interface SampleEvent {
  id: string;
  type: 'impression' | 'complete';
  decision: string;
  token: string;
  watchedMs: number;
  visibleRatio: number;
  visibleMs: number;
  at: number;
}

/** Finds sample-event ids in text that a contender stores or sends. */
export const findSampleIds = (text: string): string[] => text.match(/eid-[a-z0-9]+-\d+/g) ?? [];

/** Returns a function that creates a run's events, numbered from 0. */
export const createSampleEvents = (run: string): (() => SampleEvent) => {
  let next = 0;
  return () => {
    const number = next++;
    return {
      id: `eid-${run}-${number}`,
      type: number % 3 === 0 ? 'complete' : 'impression',
      decision: `dec_${String(number).padStart(26, '0')}`,
      // Stands in for a signed token. Only its length matters.
      token: 'v1.'.padEnd(120, 'k3Jx9QzLw7'),
      watchedMs: 15_000,
      visibleRatio: 0.98,
      visibleMs: 2_000,
      at: Date.now(),
    };
  };
};
