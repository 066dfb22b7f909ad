import { openRawStore, putAll } from '../raw-store.ts';
import type { SampleEvent } from './sample-event.ts';

/** Stores one event with raw IndexedDB, as cheaply as possible. */
export type Yardstick = (event: SampleEvent) => Promise<void>;

/**
 * Opens the baseline, which has its own database. The baseline and the contender run in alternating frames, so that
 * other load on the machine affects both equally.
 */
export async function openYardstick(): Promise<Yardstick> {
  const database = await openRawStore('yardstick');
  return (event) => {
    // Replaces the sample event's id. Otherwise, the event would count as stored by the contender.
    const json = JSON.stringify({ ...event, id: 'yardstick' });
    return Promise.resolve().then(() => putAll(database, [json]));
  };
}
