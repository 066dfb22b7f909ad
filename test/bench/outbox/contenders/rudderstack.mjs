import { RudderAnalytics } from '@rudderstack/analytics-js/bundled';

let analytics;

window.contender = {
  init: (endpoint) =>
    new Promise((resolve) => {
      analytics = new RudderAnalytics();
      analytics.load('bench', endpoint, {
        configUrl: `${new URL(endpoint).origin}/rudderstack-config`,
        logLevel: 'NONE',
        sendAdblockPage: false,
        loadIntegration: false,
        polyfillIfRequired: false,
        storage: { type: 'localStorage' },
        sessions: { autoTrack: false },
        // By default, RudderStack keeps at most 100 events and sends each event separately.
        queueOptions: { maxItems: 20_000, batch: { enabled: true } },
        onLoaded: resolve,
      });
    }),
  enqueue(event) {
    analytics.track('ad_event', event);
  },
  // RudderStack sends automatically and has no flush function.
  flush: async () => undefined,
};
