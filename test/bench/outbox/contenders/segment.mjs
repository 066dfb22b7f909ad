import { AnalyticsBrowser } from '@segment/analytics-next';

let analytics;

window.contender = {
  async init(endpoint) {
    const { origin, host, pathname } = new URL(endpoint);
    const delivery = { apiHost: host + pathname, protocol: 'http' };
    const cdnSettings = {
      integrations: { 'Segment.io': { apiKey: 'bench', ...delivery } },
      plan: {},
      remotePlugins: [],
    };
    [analytics] = await AnalyticsBrowser.load(
      { writeKey: 'bench', cdnURL: origin, cdnSettings },
      { integrations: { 'Segment.io': delivery }, disableAutoISOConversion: true },
    );
  },
  enqueue: (event) => analytics.track('ad_event', event),
  // Segment sends each event immediately and has no flush function.
  flush: async () => undefined,
};
