import { beforeEach, expect, it } from 'vitest';
import type { DecisionCreative } from '../../../protocol/wire.ts';
import { showBanner } from '../../../src/ad-break/show-banner.ts';
import type { ReadyAd } from '../../../src/decision/request-ad.ts';
import type { NoAd } from '../../../src/decision/no-ad.ts';
import { decide, html, image, load, missingMedia } from './stage-set.ts';
import { eventually } from '../../support/eventually.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';
import { waitUntilObserved } from '../creative/until-observed.ts';

let clock: ManualClock;
let bannerElement: HTMLElement;
let events: string[];
let abortController: AbortController;

beforeEach(() => {
  clock = createManualClock();
  bannerElement = document.createElement('div');
  bannerElement.style.width = '320px';
  document.body.replaceChildren(bannerElement);
  events = [];
  abortController = new AbortController();
});

const show = (take: (signal: AbortSignal) => Promise<ReadyAd | NoAd>) =>
  showBanner(
    {
      take: (_placement, signal) => take(signal),
      async enqueue({ type }) {
        events.push(type);
      },
      note() {},
      clock,
      loadTimeoutMs: 5000,
    },
    'lobby',
    bannerElement,
    abortController.signal,
  );

const showMedia = (media: DecisionCreative['media']) =>
  show(async (signal) => {
    const decision = decide(media, { format: 'banner' });
    try {
      return await load(decision, { clock, signal });
    } catch {
      return { outcome: 'error', reason: 'load_failed' };
    }
  });

it('does not change the element if there is no ad', async () => {
  bannerElement.textContent = 'your own content';
  const noAd: NoAd = { outcome: 'no_fill', reason: 'no_candidates' };
  expect(await show(async () => noAd)).toEqual(noAd);
  expect(bannerElement.innerHTML).toBe('your own content');
  expect(events).toEqual([]);
});

it('leaves the element empty if the image fails to load', async () => {
  expect((await showMedia(missingMedia('image'))).outcome).toBe('error');
  expect(bannerElement.childNodes).toHaveLength(0);
  expect(events).toEqual([]);
});

it('removes a banner that fails after it was shown, and reports the error', async () => {
  const result = await showMedia(
    html(`port.postMessage({ type: 'ready' });
      addEventListener('message', () => { for (let i = 0; i < 300; i++) port.postMessage({}) })`),
  );
  expect(result.outcome).toBe('completed');
  await eventually(() => {
    // Moving an iframe within the page reloads it. It receives no messages until it has reloaded.
    bannerElement.querySelector('iframe')?.contentWindow?.[0]?.postMessage('flood', '*');
    expect(events).toContain('close');
  });
  expect(events.filter((type) => type === 'error')).toHaveLength(1);
  expect(bannerElement.childNodes).toHaveLength(0);
});

it('reports an impression and leaves nothing on the page after removal', async () => {
  expect((await showMedia(image)).outcome).toBe('completed');
  await eventually(() => expect(events).toEqual(['start']));
  await waitUntilObserved(bannerElement);
  await clock.advance(1_000);
  expect(events).toEqual(['start', 'impression']);
  abortController.abort();
  expect(bannerElement.childNodes).toHaveLength(0);
  expect(events).toEqual(['start', 'impression', 'close']);
});
