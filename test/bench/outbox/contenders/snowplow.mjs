import { flushBuffer, newTracker, trackSelfDescribingEvent } from '@snowplow/browser-tracker';

window.contender = {
  async init(endpoint) {
    const { origin, pathname } = new URL(endpoint);
    newTracker('bench', origin, {
      appId: 'bench',
      postPath: pathname,
      stateStorageStrategy: 'localStorage',
      encodeBase64: false,
      contexts: { webPage: false, session: false, browser: false },
      // By default, Snowplow keeps at most 1,000 events.
      maxLocalStorageQueueSize: 20_000,
    });
  },
  enqueue(data) {
    trackSelfDescribingEvent({ event: { schema: 'iglu:com.example/ad/jsonschema/1-0-0', data } });
  },
  flush: async () => flushBuffer(),
};
