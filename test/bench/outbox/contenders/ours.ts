import { createIndexedDbStore } from '../../../../src/outbox/event-store.ts';
import { createOutbox, type Outbox } from '../../../../src/outbox/outbox.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { browserConnectivity, browserPageLifecycle } from '../../../../src/platform/page.ts';
import { newRandomId } from '../../../../src/platform/ids.ts';
import { browserLocks } from '../../../../src/platform/locks.ts';
import { browserTabChannel } from '../../../../src/platform/page.ts';
import { createServiceClient } from '../../../../src/transport/service-client.ts';
import './contender.ts';

let outbox: Outbox;

window.contender = {
  async init(endpoint) {
    const clock = systemClock;
    outbox = createOutbox({
      name: 'bench',
      clock,
      random: Math.random,
      newId: newRandomId,
      locks: browserLocks(),
      connectivity: browserConnectivity,
      lifecycle: browserPageLifecycle,
      openTabChannel: browserTabChannel,
      store: createIndexedDbStore({ name: 'bench', clock }),
      client: createServiceClient({
        serviceUrl: endpoint,
        publishableKey: 'pk_sandbox_bench',
        fetch: (...request) => fetch(...request),
        clock,
        timeoutMs: 10_000,
      }),
    });
  },
  enqueue: (event) =>
    outbox.enqueue({
      type: event.type,
      decision_id: event.decision,
      token: event.token,
      watched_ms: event.watchedMs,
      visible: { ratio: event.visibleRatio, ms: event.visibleMs },
      // The receiver recognizes the event by this id. The outbox also assigns an id of its own.
      detail: event.id,
    }),
  flush: () => outbox.flush(),
};
