import './contestant.ts';
import { clear, openRawStore, putAll } from '../raw-store.ts';

let database: IDBDatabase;
let group: { events: string[]; stored: Promise<void> } | undefined;

window.contestant = {
  async init() {
    database = await openRawStore('raw');
  },
  enqueue(event) {
    if (group === undefined) {
      const events: string[] = [];
      const stored = Promise.resolve().then(() => {
        group = undefined;
        return putAll(database, events);
      });
      group = { events, stored };
    }
    group.events.push(JSON.stringify(event));
    return group.stored;
  },
  flush: () => clear(database),
};
