import { afterEach, expect, it, vi } from 'vitest';
import { createAds } from '../../../src/index.ts';
import { createDeferred } from '../../support/deferred.ts';
import { eventually } from '../../support/eventually.ts';
import { createPublishableKey, picture, createStubService } from '../../support/stub-service.ts';

const undo: (() => void)[] = [];
afterEach(() => undo.splice(0).forEach((step) => step()));

/** Opens no database until the returned function is called. */
function delayDatabases(): () => void {
  const { promise, resolve } = createDeferred();
  const open = IDBFactory.prototype.open;
  vi.spyOn(IDBFactory.prototype, 'open').mockImplementation(function (
    this: IDBFactory,
    ...parameters
  ) {
    const request = open.apply(this, parameters);
    Object.defineProperty(request, 'onsuccess', {
      set(listener: () => void) {
        request.addEventListener('success', () => void promise.then(listener));
      },
    });
    // A connection that the SDK never receives must not stay open.
    undo.push(() => request.readyState === 'done' && request.result.close());
    return request;
  });
  undo.push(() => vi.restoreAllMocks());
  return resolve;
}

it.each([
  ['opens after the ad', 'indexeddb'],
  ['never opens', 'memory'],
] as const)('an ad earns its reward even if the database %s', async (_description, storage) => {
  const openDatabases = delayDatabases();
  const service = createStubService();
  service.respond = () => picture(1_600);
  const ads = createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    userRef: 'player-1',
    fetch: service.fetch,
  });
  undo.push(ads.destroy);
  const onReward = vi.fn();
  ads.on('reward', onReward);
  const { outcome } = await ads.showRewarded('revive');
  expect(['rewarded', 'pending']).toContain(outcome);

  const findEventTime = (type: string): number =>
    Date.parse(service.events.find((event) => event.type === type)?.occurred_at ?? '');
  // Events are sent before the storage has opened, with the times at which they occurred.
  await eventually(() => expect(findEventTime('complete')).toBeGreaterThan(0));
  expect(findEventTime('midpoint') - findEventTime('start')).toBeGreaterThan(600);
  expect(findEventTime('complete') - findEventTime('start')).toBeGreaterThan(1_300);

  if (storage === 'indexeddb') openDatabases();
  await eventually(() => expect(onReward).toHaveBeenCalledOnce());
  await ads.showRewarded('revive');
  await eventually(() => expect(ads.diagnostics().outbox).toMatchObject({ storage, stored: 0 }));
  await eventually(() => expect(onReward).toHaveBeenCalledTimes(2));
  const ids = service.events.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});
