import { flush, init, track } from '@amplitude/analytics-browser';

window.contender = {
  async init(serverUrl) {
    await init('bench', 'player', {
      serverUrl,
      autocapture: false,
      remoteConfig: { fetchRemoteConfig: false },
      enableDiagnostics: false,
      logLevel: 0,
    }).promise;
  },
  enqueue(event) {
    // Doesn't return Amplitude's promise: it resolves when the event has been sent, not when it has been stored.
    track('ad_event', event);
  },
  flush: () => flush().promise,
};
