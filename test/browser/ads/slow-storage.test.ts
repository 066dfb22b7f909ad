import { afterEach, expect, it, vi } from 'vitest';
import { createAds } from '../../../src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { createPublishableKey, picture, createStubService } from '../../support/stub-service.ts';

const undo: (() => void)[] = [];
afterEach(() => undo.splice(0).forEach((step) => step()));

/** Delays opening any database by `ms` milliseconds. Without `ms`, no database ever opens. */
function delayDatabases(ms?: number): { isOpen: () => boolean } {
  let isOpen = false;
  const open = IDBFactory.prototype.open;
  vi.spyOn(IDBFactory.prototype, 'open').mockImplementation(function (
    this: IDBFactory,
    ...parameters
  ) {
    const request = open.apply(this, parameters);
    Object.defineProperty(request, 'onsuccess', {
      set(listener: () => void) {
        request.addEventListener('success', () => {
          if (ms === undefined) return request.result.close();
          setTimeout(() => {
            isOpen = true;
            listener();
          }, ms);
        });
      },
    });
    return request;
  });
  undo.push(() => vi.restoreAllMocks());
  return { isOpen: () => isOpen };
}

it.each([
  ['opens after four seconds', 4_000, 'indexeddb'],
  ['never opens', undefined, 'memory'],
] as const)('an ad earns its reward even if the database %s', async (_description, ms, storage) => {
  const { isOpen } = delayDatabases(ms);
  const service = createStubService();
  service.respond = () => picture(1_600);
  const arrivals: { type: string; beforeOpening: boolean }[] = [];
  const ads = createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    userRef: 'player-1',
    async fetch(...request) {
      const before = service.events.length;
      const response = await service.fetch(...request);
      for (const { type } of service.events.slice(before))
        arrivals.push({ type, beforeOpening: !isOpen() });
      return response;
    },
  });
  undo.push(ads.destroy);
  const onReward = vi.fn();
  ads.on('reward', onReward);
  const { outcome } = await ads.showRewarded('revive');
  expect(['rewarded', 'pending']).toContain(outcome);
  await eventually(() => expect(onReward).toHaveBeenCalledOnce());

  const findEventTime = (type: string): number =>
    Date.parse(service.events.find((event) => event.type === type)?.occurred_at ?? '');
  expect(findEventTime('midpoint') - findEventTime('start')).toBeGreaterThan(600);
  expect(findEventTime('complete') - findEventTime('start')).toBeGreaterThan(1_300);
  // Events that occur before the storage has opened are sent without waiting for it.
  expect(arrivals).toContainEqual({ type: 'midpoint', beforeOpening: true });
  await eventually(() => expect(ads.diagnostics().outbox).toMatchObject({ storage, stored: 0 }));
  const ids = service.events.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});
