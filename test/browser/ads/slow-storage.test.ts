import { afterEach, expect, it, vi } from 'vitest';
import { createAds } from '../../../src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { createPublishableKey, picture, createStubService } from '../../support/stub-service.ts';

const undo: (() => void)[] = [];
afterEach(() => undo.splice(0).forEach((step) => step()));

/** Delays the opening of databases by `ms` milliseconds. Without `ms`, they never open. */
function delayDatabases(ms?: number): { opened: () => boolean } {
  let opened = false;
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
            opened = true;
            listener();
          }, ms);
        });
      },
    });
    return request;
  });
  undo.push(() => vi.restoreAllMocks());
  return { opened: () => opened };
}

it.each([
  ['opens after four seconds', 4_000, 'indexeddb'],
  ['never opens', undefined, 'memory'],
] as const)('an ad earns its reward if the database %s', async (_description, ms, storage) => {
  const { opened } = delayDatabases(ms);
  const service = createStubService();
  service.respond = () => picture(1_600);
  const arrived: { type: string; beforeOpening: boolean }[] = [];
  const ads = createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    userRef: 'player-1',
    async fetch(...request) {
      const before = service.events.length;
      const response = await service.fetch(...request);
      for (const { type } of service.events.slice(before))
        arrived.push({ type, beforeOpening: !opened() });
      return response;
    },
  });
  undo.push(ads.destroy);
  const rewarded = vi.fn();
  ads.on('reward', rewarded);
  const { outcome } = await ads.showRewarded('revive');
  expect(['rewarded', 'pending']).toContain(outcome);
  await eventually(() => expect(rewarded).toHaveBeenCalledOnce());

  const findEventTime = (type: string): number =>
    Date.parse(service.events.find((event) => event.type === type)?.occurred_at ?? '');
  expect(findEventTime('midpoint') - findEventTime('start')).toBeGreaterThan(600);
  expect(findEventTime('complete') - findEventTime('start')).toBeGreaterThan(1_300);
  // Events that occurred before the storage opened do not wait for it.
  expect(arrived).toContainEqual({ type: 'third_quartile', beforeOpening: true });
  await eventually(() => expect(ads.diagnostics().outbox).toMatchObject({ storage, stored: 0 }));
  const ids = service.events.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});
