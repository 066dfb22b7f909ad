import { createMemoryStore, type EventStore, readAll } from '../../../src/outbox/event-store.ts';
import { createOutbox, type OutboxDeps } from '../../../src/outbox/outbox.ts';
import { browserLocks } from '../../../src/platform/locks.ts';
import { createEventService } from '../../support/event-service.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import {
  createSharedLockManager,
  createSharedTabChannel,
  createTestNetwork,
  createTestPage,
} from '../../support/ports.ts';

/** Opens a simulated browser. Its tabs share a store, locks and channels. */
export function openBrowser() {
  const clock = createManualClock();
  const service = createEventService();
  const store = createMemoryStore();
  const locks = browserLocks(createSharedLockManager(), clock);
  const openTabChannel = createSharedTabChannel();
  let ids = 0;
  const openTab = (deps: Partial<OutboxDeps> = {}) => {
    const lifecycle = createTestPage();
    const connectivity = createTestNetwork();
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
  return { clock, service, store, openTab, openTabChannel };
}
export const countRecords = async (store: EventStore): Promise<number> =>
  (await readAll(store)).length;
