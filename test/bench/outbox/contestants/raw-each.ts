import './contestant.ts';
import { clear, openRawStore, putAll } from '../raw-store.ts';

let database: IDBDatabase;

window.contestant = {
  async init() {
    database = await openRawStore('raw');
  },
  enqueue: (event) => putAll(database, [JSON.stringify(event)]),
  flush: () => clear(database),
};
