import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Ads, createAds } from '../../../src/index.ts';
import { native } from '../../../src/platform/native.ts';
import { eventually } from '../../support/eventually.ts';
import { rowsForRun } from '../../support/quick-run.ts';
import { createPublishableKey, picture, createStubService } from '../../support/stub-service.ts';
import { html, overlay, video } from '../ad-break/stage-set.ts';

// A browser, a policy or another script may disable some of the browser APIs that the SDK uses. For each API, tests
// cover the cases in which it is missing, throws, or never responds. Any uncaught error also fails the test.

const undo: (() => void)[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const step of undo.splice(0).toReversed()) step();
});

function replace(owner: object, name: string, descriptor: PropertyDescriptor): void {
  const previousDescriptor = Object.getOwnPropertyDescriptor(owner, name);
  Object.defineProperty(owner, name, { configurable: true, ...descriptor });
  undo.push(() => {
    if (previousDescriptor) Object.defineProperty(owner, name, previousDescriptor);
    else Reflect.deleteProperty(owner, name);
  });
}

const throwError = (): never => {
  throw new DOMException('The operation is insecure.', 'SecurityError');
};
const never = () => new Promise<never>(() => undefined);
/** A function or constructor that does nothing and never calls back. */
const unresponsive = function (): object {
  return { observe() {}, disconnect() {} };
};

const makeMissing = (owner: object, name: string) => () =>
  replace(owner, name, { value: undefined, writable: true });
/** Throws when used. */
const makeThrowing = (owner: object, name: string) => () =>
  replace(owner, name, { value: throwError, writable: true });
/** Throws even when read. */
const makeForbidden = (owner: object, name: string) => () =>
  replace(owner, name, { get: throwError });
const makeReplacement = (owner: object, name: string, value: unknown) => () =>
  replace(owner, name, { value, writable: true });

function start(options: { confirmationTimeoutMs?: number } = {}) {
  const service = createStubService();
  service.respond = () => picture(200);
  const ads = createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    userRef: 'player-1',
    fetch: service.fetch,
    ...options,
  });
  undo.push(ads.destroy);
  const onReward = vi.fn();
  ads.on('reward', onReward);
  return { ads, service, onReward };
}

/** Calls every method in the public API and waits for every promise to settle. */
async function callEverything(ads: Ads): Promise<void> {
  ads.once('change', () => undefined);
  ads.on('close', () => undefined)();
  ads.off('close');
  ads.simulate();
  ads.setConsent({ status: 'granted' });
  ads.canShow('revive');
  ads.availability('revive');
  ads.diagnostics();
  await ads.rewards();
  await ads.rewardStatus('dec_unknown');
  await ads.preload('revive');
  const banner = ads.mountBanner('lobby', document.createElement('div'));
  banner.remove();
  await banner.result;
  await ads.showInterstitial('level-end', { signal: AbortSignal.abort() });
}

const missingFeatures: [name: string, disable: () => void][] = [
  ['without BroadcastChannel', makeMissing(globalThis, 'BroadcastChannel')],
  [
    'where the BroadcastChannel constructor throws, as in Firefox with cookies blocked',
    makeThrowing(globalThis, 'BroadcastChannel'),
  ],
  [
    'where BroadcastChannel rejects messages',
    makeThrowing(BroadcastChannel.prototype, 'postMessage'),
  ],
  ['without Web Locks', makeMissing(navigator, 'locks')],
  ['where Web Locks are forbidden', makeForbidden(navigator, 'locks')],
  [
    'where Web Locks throw',
    makeReplacement(navigator, 'locks', { request: throwError, query: throwError }),
  ],
  [
    'where Web Locks reject',
    makeReplacement(navigator, 'locks', {
      request: async () => throwError(),
      query: async () => throwError(),
    }),
  ],
  ['without IndexedDB', makeMissing(globalThis, 'indexedDB')],
  ['where IndexedDB is forbidden', makeForbidden(globalThis, 'indexedDB')],
  ['where IndexedDB does not open', makeReplacement(globalThis, 'indexedDB', { open: throwError })],
  [
    'where IndexedDB never responds',
    makeReplacement(globalThis, 'indexedDB', { open: () => new EventTarget() }),
  ],
  ['without navigator.onLine', makeMissing(navigator, 'onLine')],
  ['without structuredClone', makeMissing(globalThis, 'structuredClone')],
  ['where structuredClone throws', makeThrowing(globalThis, 'structuredClone')],
  ['without matchMedia', makeMissing(globalThis, 'matchMedia')],
  ['where matchMedia throws', makeThrowing(globalThis, 'matchMedia')],
  ['without crypto.getRandomValues', makeMissing(crypto, 'getRandomValues')],
  ['where crypto.getRandomValues throws', makeThrowing(crypto, 'getRandomValues')],
  ['without ResizeObserver', makeMissing(globalThis, 'ResizeObserver')],
  ['without IntersectionObserver', makeMissing(globalThis, 'IntersectionObserver')],
  ['where IntersectionObserver throws', makeThrowing(globalThis, 'IntersectionObserver')],
  [
    'where IntersectionObserver never responds',
    makeReplacement(globalThis, 'IntersectionObserver', unresponsive),
  ],
  ['where storage is forbidden', makeForbidden(globalThis, 'localStorage')],
  ['where MutationObserver throws', makeThrowing(globalThis, 'MutationObserver')],
  ['without MutationObserver', makeMissing(globalThis, 'MutationObserver')],
];

describe.each(rowsForRun(missingFeatures, 2))('a page %s', (name, disable) => {
  it('earns and delivers a reward', async () => {
    disable();
    const { ads, onReward } = start();
    await callEverything(ads);
    const { decisionId, outcome } = await ads.showRewarded('revive');
    expect(outcome).toBe('rewarded');
    await eventually(() => expect(onReward).toHaveBeenCalledTimes(1));
    expect(onReward.mock.calls[0]?.[0]).toMatchObject({ decisionId });
    expect(ads.diagnostics().outbox.storage).toBe(
      name.includes('IndexedDB') ? 'memory' : 'indexeddb',
    );
  });
});

it.each<[name: string, disable: () => void]>([
  ['absent', makeMissing(globalThis, 'IntersectionObserver')],
  ['throwing', makeThrowing(globalThis, 'IntersectionObserver')],
  ['silent', makeReplacement(globalThis, 'IntersectionObserver', unresponsive)],
])('reports an impression with IntersectionObserver %s', async (_, disable) => {
  disable();
  const { ads, service } = start();
  service.respond = () => picture(1_500);
  await ads.showRewarded('revive');
  const impression = service.events.find(({ type }) => type === 'impression');
  expect(impression?.visible).toMatchObject({ ratio: 1 });
});

it.each<[name: string, disable: () => void]>([
  ['absent', makeMissing(globalThis, 'matchMedia')],
  ['throwing', makeThrowing(globalThis, 'matchMedia')],
  ['available but without userActivation', makeMissing(navigator, 'userActivation')],
])('shows an HTML creative with matchMedia %s', async (_, disable) => {
  disable();
  const { ads, service } = start();
  const media = html("port.postMessage({ type: 'ready' });");
  service.respond = () => {
    const { creative, ...rest } = picture(200);
    return { ...rest, ...(creative && { creative: { ...creative, media } }) };
  };
  expect((await ads.showRewarded('revive')).outcome).toBe('rewarded');
});

describe.each<[name: string, disable: () => void]>([
  ['absent', makeMissing(native, 'requestAnimationFrame')],
  ['throwing', makeThrowing(native, 'requestAnimationFrame')],
  ['silent', makeReplacement(native, 'requestAnimationFrame', () => 0)],
])('with requestAnimationFrame %s', (_, disable) => {
  it('falls back to a timer to earn a video’s reward', async () => {
    disable();
    const { ads, onReward, service } = start();
    service.respond = () => {
      const { creative, ...rest } = picture(200);
      return { ...rest, ...(creative && { creative: { ...creative, media: video } }) };
    };
    const result = ads.showRewarded('revive');
    await eventually(() => expect(service.events.map(({ type }) => type)).toContain('complete'));
    expect(onReward).not.toHaveBeenCalled();
    overlay().findVisible('button.close')?.click();
    expect((await result).outcome).toBe('rewarded');
    await eventually(() => expect(onReward).toHaveBeenCalledTimes(1));
  });
});

it('the outcome is pending while Web Locks do not respond', async () => {
  makeReplacement(navigator, 'locks', { request: never, query: never })();
  const { ads } = start({ confirmationTimeoutMs: 100 });
  await callEverything(ads);
  expect((await ads.showRewarded('revive')).outcome).toBe('pending');
  expect(await ads.rewards()).toMatchObject([{ state: 'pending' }]);
});

it('works even if element ids on the page clobber globals', async () => {
  const names = ['trueward', 'Trueward', 'ads', 'trustedTypes', '__tcfapi', '__gpp', 'scheduler'];
  for (const id of names) {
    const element = document.createElement('a');
    element.id = id;
    document.body.append(element);
    undo.push(() => element.remove());
  }
  const { ads, onReward } = start();
  expect((await ads.showRewarded('revive')).outcome).toBe('rewarded');
  await eventually(() => expect(onReward).toHaveBeenCalledTimes(1));
});

it('shows no ad and resumes the game immediately if <dialog> is unsupported', async () => {
  makeMissing(HTMLDialogElement.prototype, 'showModal')();
  const { ads, service } = start();
  const countBefore = document.body.children.length;
  const result = await ads.showRewarded('revive');
  expect(result.outcome).toBe('error');
  expect(JSON.stringify(result)).toContain('showModal');
  expect(document.body.children.length).toBe(countBefore);
  const onKeydown = vi.fn();
  window.addEventListener('keydown', onKeydown, { once: true });
  document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }));
  expect(onKeydown).toHaveBeenCalledTimes(1);
  expect(service.events.map(({ type }) => type)).not.toContain('impression');
  expect(ads.diagnostics().showing).toBeNull();
});

it('reports an impression without IntersectionObserver v2', async () => {
  const Observer = IntersectionObserver;
  vi.stubGlobal(
    'IntersectionObserver',
    class extends Observer {
      constructor(callback: IntersectionObserverCallback, options?: IntersectionObserverInit) {
        super((entries, observer) => {
          for (const entry of entries)
            Object.defineProperty(entry, 'isVisible', { value: undefined });
          callback(entries, observer);
        }, options);
      }
    },
  );
  undo.push(() => vi.unstubAllGlobals());
  const { ads, service } = start();
  service.respond = () => picture(1_500);
  await ads.showRewarded('revive');
  expect(service.events.map(({ type }) => type)).toContain('impression');
});
