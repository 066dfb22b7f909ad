import mixpanel from 'mixpanel-browser/src/loaders/loader-module-core.js';

window.contender = {
  async init(endpoint) {
    mixpanel.init('bench', {
      api_host: endpoint,
      api_payload_format: 'json',
      persistence: 'localStorage',
      autocapture: false,
      track_pageview: false,
      record_sessions_percent: 0,
      ignore_dnt: true,
    });
  },
  enqueue(event) {
    mixpanel.track('ad_event', event);
  },
  flush: async () => mixpanel.request_batchers?.events?.flush(),
};
