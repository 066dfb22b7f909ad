import { clear, createStore, get, set } from 'idb-keyval';
import './contender.ts';

const store = createStore('idb-keyval', 'events');

window.contender = {
  async init() {
    await get('open the database', store);
  },
  enqueue: (event) => set(event.id, JSON.stringify(event), store),
  flush: () => clear(store),
};
