import './contender.ts';
import { clear, openRawStore, putAll } from '../raw-store.ts';

let database: IDBDatabase;

window.contender = {
  async init() {
    database = await openRawStore('raw');
  },
  enqueue: (event) => putAll(database, [JSON.stringify(event)]),
  flush: () => clear(database),
};
