import './workbox-registration.mjs';
import { Queue } from 'workbox-background-sync/Queue.js';

let queue;
let url;

window.contender = {
  async init(endpoint) {
    url = endpoint;
    queue = new Queue('bench', { onSync: async () => undefined });
    await queue.size();
  },
  enqueue: (event) =>
    queue.pushRequest({
      request: new Request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(event),
      }),
    }),
  flush: () => queue.replayRequests(),
};
