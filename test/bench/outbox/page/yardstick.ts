import { openRawStore, putAll } from '../raw-store.ts';
import type { SampleEvent } from './sample-event.ts';

/** Stores one event by raw IndexedDB, as cheaply as that goes. */
export type Yardstick = (event: SampleEvent) => Promise<void>;

/**
 * Opens the yardstick, in a database of its own. It is used in the frames between those of a contestant:
 * what else this machine does then slows both alike, which a ratio to another page's figures would show
 * as a difference.
 */
export async function openYardstick(): Promise<Yardstick> {
  const database = await openRawStore('yardstick');
  return (event) => {
    // Not an id of a sample event, or it would count as one that the contestant stored.
    const json = JSON.stringify({ ...event, id: 'yardstick' });
    return Promise.resolve().then(() => putAll(database, [json]));
  };
}
