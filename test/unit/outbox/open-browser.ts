// Loads the chunk in advance, so that the outbox's dynamic import resolves immediately.
import '../../../src/outbox/drain.ts';
import { createMemoryStore, type EventStore } from '../../../src/outbox/event-store.ts';
import { createOutbox, type OutboxDeps } from '../../../src/outbox/outbox.ts';
import { eventService } from '../../support/event-service.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { sharedLocks, sharedTabChannel, testNetwork, testPage } from '../../support/ports.ts';

/** Opens a simulated browser. Its tabs share a store, locks and channels. */
export function openBrowser() {
  const clock = manualClock();
  const service = eventService();
  const store = createMemoryStore();
  const locks = sharedLocks();
  const openTabChannel = sharedTabChannel();
  let ids = 0;
  const openTab = (deps: Partial<OutboxDeps> = {}) => {
    const lifecycle = testPage();
    const connectivity = testNetwork();
    const outbox = createOutbox({
      name: 'test',
      client: service,
      clock,
      random: () => 1,
      newId: () => `event-${String(++ids).padStart(4, '0')}`,
      locks,
      connectivity,
      lifecycle,
      openTabChannel,
      store: { ...store, close: () => undefined },
      ...deps,
    });
    return { outbox, lifecycle, connectivity };
  };
  return { clock, service, store, openTab, signal: openTabChannel };
}
export const recordsIn = async (store: EventStore): Promise<number> =>
  (await store.read(-1, 1e6)).length;
