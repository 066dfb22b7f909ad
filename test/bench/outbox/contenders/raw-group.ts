import './contender.ts';
import { clear, openRawStore, putAll } from '../raw-store.ts';

let database: IDBDatabase;
let group: { events: string[]; write: Promise<void> } | undefined;

window.contender = {
  async init() {
    database = await openRawStore('raw');
  },
  enqueue(event) {
    if (group === undefined) {
      const events: string[] = [];
      const write = Promise.resolve().then(() => {
        group = undefined;
        return putAll(database, events);
      });
      group = { events, write };
    }
    group.events.push(JSON.stringify(event));
    return group.write;
  },
  flush: () => clear(database),
};
