import { expect, it, vi } from 'vitest';
import { mountBanner } from '../../../src/creative/banner.ts';
import { loadCreative } from '../../../src/creative/load-creative.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { decide, image } from '../ad-break/stage-set.ts';
import { eventually } from '../../support/eventually.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { waitUntilObserved } from './until-observed.ts';

async function mount(clickUrl?: string, { clock = systemClock, top = '0px' } = {}) {
  const slot = document.createElement('div');
  slot.style.cssText = `position:absolute;top:${top};width:320px`;
  document.body.replaceChildren(slot);
  const creative = await loadCreative(decide(image), {
    clock,
    signal: new AbortController().signal,
  });
  const hooks = {
    painted: vi.fn(),
    viewed: vi.fn(),
    unseen: vi.fn(),
    clicked: vi.fn(),
    failed: vi.fn(),
  };
  const remove = mountBanner(slot, creative, { clock, clickUrl, hooks });
  return { slot, hooks, remove };
}

it('reports one impression after a second and leaves nothing on the page after removal', async () => {
  const { observe, disconnect } = IntersectionObserver.prototype;
  const observers = new Set<IntersectionObserver>();
  vi.spyOn(IntersectionObserver.prototype, 'observe').mockImplementation(function (
    this: IntersectionObserver,
    target,
  ) {
    observers.add(this);
    observe.call(this, target);
  });
  vi.spyOn(IntersectionObserver.prototype, 'disconnect').mockImplementation(function (
    this: IntersectionObserver,
  ) {
    observers.delete(this);
    disconnect.call(this);
  });
  const { hooks, remove, slot } = await mount('https://advertiser.test/');
  await eventually(() => expect(hooks.viewed).toHaveBeenCalled());
  expect(hooks.painted).toHaveBeenCalledTimes(1);
  expect(hooks.viewed).toHaveBeenCalledTimes(1);
  expect(hooks.viewed.mock.calls[0]?.[0].ratio).toBeGreaterThanOrEqual(0.5);
  expect(hooks.viewed.mock.calls[0]?.[0].ms).toBeGreaterThanOrEqual(990);
  expect(observers.size).toBeGreaterThan(0);
  remove();
  remove();
  expect(slot.childNodes).toHaveLength(0);
  expect(observers.size).toBe(0);
});

it('counts a banner below the fold once the player scrolls to it', async () => {
  const clock = createManualClock();
  const { hooks, remove, slot } = await mount(undefined, { clock, top: '4000px' });
  await eventually(() => expect(hooks.painted).toHaveBeenCalled());
  await clock.advance(5_000);
  expect(hooks.viewed).not.toHaveBeenCalled();
  slot.scrollIntoView();
  await waitUntilObserved(slot);
  await clock.advance(999);
  expect(hooks.viewed).not.toHaveBeenCalled();
  await clock.advance(1);
  expect(hooks.viewed).toHaveBeenCalledTimes(1);
  remove();
});

it('counts a click once', async () => {
  const { hooks, remove, slot } = await mount('https://advertiser.test/');
  const link = slot.firstElementChild?.shadowRoot?.querySelector('a');
  link?.addEventListener('click', (event) => event.preventDefault());
  slot.querySelector('img')?.click();
  slot.querySelector('img')?.click();
  expect(hooks.clicked).toHaveBeenCalledTimes(1);
  remove();
  const other = await mount('javascript:alert(1)');
  expect(other.slot.firstElementChild?.shadowRoot?.querySelector('a')?.hasAttribute('href')).toBe(
    false,
  );
  other.remove();
});
