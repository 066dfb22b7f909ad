import posthog from 'posthog-js/dist/module.slim.js';

window.contender = {
  async init(api_host) {
    posthog.init('bench', {
      api_host,
      autocapture: false,
      capture_pageview: false,
      capture_pageleave: false,
      disable_session_recording: true,
      advanced_disable_flags: true,
      disable_compression: true,
      disable_external_dependency_loading: true,
      disable_surveys: true,
      opt_out_useragent_filter: true,
      persistence: 'localStorage',
    });
  },
  enqueue(event) {
    posthog.capture('ad_event', event);
  },
  // PostHog sends automatically and has no flush function.
  flush: async () => undefined,
};
