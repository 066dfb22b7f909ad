import { expect, it, vi } from 'vitest';
import { showBanner } from '../../../src/ad-break/show-banner.ts';
import type { ReadyAd } from '../../../src/decision/request-ad.ts';
import type { NewAdEvent } from '../../../src/outbox/outbox.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { toText } from '../../../src/platform/guard.ts';
import { eventually } from '../../support/eventually.ts';
import { decide, html, image, load } from '../ad-break/stage-set.ts';

const { signal } = new AbortController();

const loadMedia = (media: Parameters<typeof decide>[0]) =>
  load(decide(media, { format: 'banner' }), { clock: systemClock, signal });

async function show(ad: ReadyAd, element: HTMLElement) {
  const { creative } = ad;
  const destroyed = vi.spyOn(creative, 'destroy');
  const events: NewAdEvent[] = [];
  const result = await showBanner(
    {
      clock: systemClock,
      loadTimeoutMs: 5_000,
      take: async () => ad,
      enqueue: async (event) => void events.push(event),
      note() {},
    },
    'lobby',
    element,
    signal,
  );
  return { result, destroyed, events: events.map(({ type }) => type) };
}

it('immediately removes a creative that failed during preloading', async () => {
  const slot = document.createElement('div');
  document.body.replaceChildren(slot);
  const flood = html(
    `port.postMessage({ type: 'ready' }); for (let i = 0; i < 300; i++) port.postMessage({});`,
  );
  const closePort = vi.spyOn(MessagePort.prototype, 'close');
  const ad = await loadMedia(flood);
  await eventually(() => expect(closePort).toHaveBeenCalled());
  const { destroyed, events, result } = await show(ad, slot);
  expect(result).toMatchObject({ outcome: 'error', reason: 'message_flood' });
  expect(events).toEqual(['error', 'close']);
  expect(destroyed).toHaveBeenCalled();
  expect(slot.childNodes).toHaveLength(0);
});

it('destroys the creative if its element takes no children', async () => {
  const slot = document.createElement('div');
  slot.append = () => {
    throw new Error('a component of the page refuses');
  };
  const { destroyed, result } = await show(await loadMedia(image), slot);
  expect(result).toMatchObject({ outcome: 'error', reason: 'open_failed' });
  expect(destroyed).toHaveBeenCalled();
});

it.each([null, undefined, 7, '#banner', {}, [], document, document.createTextNode('text')])(
  'what is not an element (%#) uses no ad, and the reason says so',
  async (element) => {
    const take = vi.fn();
    const deps = { clock: systemClock, loadTimeoutMs: 5_000, take, enqueue: take, note: take };
    const result = await showBanner(deps, 'lobby', element as HTMLElement, signal);
    expect(result).toMatchObject({ outcome: 'error', reason: 'option_invalid' });
    expect(result.detail).toContain(toText(element));
    expect(take).not.toHaveBeenCalled();
  },
);

it('an element of another frame is one', async () => {
  const frame = document.createElement('iframe');
  document.body.replaceChildren(frame);
  const slot = frame.contentDocument?.createElement('div') as HTMLElement;
  document.body.append(slot);
  const { result } = await show(await loadMedia(image), slot);
  expect(result).toMatchObject({ outcome: 'completed' });
});
