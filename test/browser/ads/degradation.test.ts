import { afterEach, expect, it, vi } from 'vitest';
import { type Ads, createAds } from '../../../src/index.ts';
import { freshKey, picture, stubService } from '../../support/stub-service.ts';
import { eventually } from '../../support/eventually.ts';

const undo: (() => void)[] = [];
afterEach(() => undo.splice(0).forEach((step) => step()));

/** Takes a part of the browser away, as an old or a strict one has it. */
function without(owner: object, name: string): void {
  const before = Object.getOwnPropertyDescriptor(owner, name);
  Object.defineProperty(owner, name, { value: undefined, configurable: true, writable: true });
  undo.push(() => {
    if (before) Object.defineProperty(owner, name, before);
    else Reflect.deleteProperty(owner, name);
  });
}

function start(): { ads: Ads; service: ReturnType<typeof stubService> } {
  const service = stubService();
  service.answer = () => picture(200);
  const ads = createAds({
    publishableKey: freshKey(),
    serviceUrl: 'https://ads.test',
    userRef: 'player-1',
    fetch: service.fetch,
  });
  undo.push(ads.destroy);
  return { ads, service };
}

const parts: [name: string, take: () => void, storage: 'indexeddb' | 'memory'][] = [
  ['Web Locks', () => without(navigator, 'locks'), 'indexeddb'],
  ['IndexedDB', () => without(globalThis, 'indexedDB'), 'memory'],
  ['BroadcastChannel', () => without(globalThis, 'BroadcastChannel'), 'indexeddb'],
];

it.each(parts)('earns and hands over a reward without %s', async (_name, take, storage) => {
  take();
  const { ads } = start();
  const rewarded = vi.fn();
  ads.on('reward', rewarded);
  const { decisionId, outcome } = await ads.showRewarded('revive');
  expect(outcome).toBe('rewarded');
  await eventually(() => expect(rewarded).toHaveBeenCalledTimes(1));
  expect(rewarded.mock.calls[0]?.[0]).toMatchObject({ decisionId });
  expect(ads.diagnostics().outbox.storage).toBe(storage);
});

it('tells that an ad was seen without IntersectionObserver v2, which only Chromium has', async () => {
  const asked: (IntersectionObserverInit | undefined)[] = [];
  const Observer = IntersectionObserver;
  vi.stubGlobal(
    'IntersectionObserver',
    class extends Observer {
      constructor(callback: IntersectionObserverCallback, options?: IntersectionObserverInit) {
        asked.push(options);
        super((entries, observer) => {
          for (const entry of entries) Reflect.deleteProperty(entry, 'isVisible');
          callback(entries, observer);
        }, options);
      }
    },
  );
  undo.push(() => vi.unstubAllGlobals());
  const { ads, service } = start();
  service.answer = () => picture(1_500);
  await ads.showRewarded('revive');
  expect(service.events.map(({ type }) => type)).toContain('impression');
  expect(asked.filter((options) => options && 'trackVisibility' in options)).toEqual([]);
});

it('gives the game back at once without <dialog>, and says that there is no ad', async () => {
  without(HTMLDialogElement.prototype, 'showModal');
  const { ads, service } = start();
  const before = document.body.children.length;
  const result = await ads.showRewarded('revive');
  expect(result).toMatchObject({
    outcome: 'error',
    reason: expect.stringContaining('showModal'),
  });
  expect(document.body.children.length).toBe(before);
  const heard = vi.fn();
  window.addEventListener('keydown', heard, { once: true });
  document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }));
  expect(heard).toHaveBeenCalledTimes(1);
  expect(service.events.map(({ type }) => type)).not.toContain('impression');
  expect(ads.diagnostics().showing).toBeNull();
});
