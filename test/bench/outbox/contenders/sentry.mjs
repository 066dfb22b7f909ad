import { makeBrowserOfflineTransport, makeFetchTransport } from '@sentry/browser';

let transport;
const newId = () => crypto.randomUUID().replaceAll('-', '');

window.contender = {
  async init(url) {
    transport = makeBrowserOfflineTransport(makeFetchTransport)({
      url,
      recordDroppedEvent: () => undefined,
      flushAtStartup: true,
      // By default, Sentry keeps at most 30 events and drops the rest.
      maxQueueSize: 100_000,
      bufferSize: 100_000,
    });
  },
  enqueue(event) {
    const event_id = newId();
    const timestamp = Date.now() / 1000;
    return transport.send([
      { event_id, sent_at: new Date().toISOString() },
      [[{ type: 'event' }, { event_id, timestamp, platform: 'javascript', extra: event }]],
    ]);
  },
  flush: async () => transport.flush(),
};
