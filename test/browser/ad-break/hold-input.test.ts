import { afterEach, expect, it } from 'vitest';
import { holdInput } from '../../../src/ad-break/hold-input.ts';
import { openGate } from './stage-set.ts';

afterEach(() => document.body.replaceChildren());

/** Opens an ad over a game that listens on `window`, as engines do. */
function openAd() {
  const ad = document.body.appendChild(document.createElement('div'));
  const canvas = document.body.appendChild(document.createElement('canvas'));
  const received: string[] = [];
  const abortController = new AbortController();
  for (const type of ['keydown', 'keyup'] as const)
    window.addEventListener(type, ({ code }) => received.push(`${type} ${code}`), abortController);
  const key = (type: 'keydown' | 'keyup', code: string, on: HTMLElement, repeat = false) =>
    on.dispatchEvent(new KeyboardEvent(type, { code, repeat, bubbles: true }));
  return {
    ad,
    canvas,
    received,
    key,
    release: holdInput(ad, canvas, openGate),
    end: () => abortController.abort(),
  };
}

it('the game does not receive the keyup event for the key that closed the ad', () => {
  const { ad, canvas, received, key, release, end } = openAd();
  key('keydown', 'Enter', ad);
  release();
  key('keydown', 'Enter', canvas, true);
  key('keyup', 'Enter', canvas);
  expect(received).toEqual([]);
  key('keydown', 'Enter', canvas);
  key('keyup', 'Enter', canvas);
  expect(received).toEqual(['keydown Enter', 'keyup Enter']);
  end();
});

it('the game receives exactly one keyup event for a key that was held down when the ad opened and that later closed the ad', () => {
  const { ad, canvas, received, key, release, end } = openAd();
  key('keyup', 'Space', ad);
  key('keydown', 'Space', ad);
  release();
  expect(received).toEqual(['keyup Space']);
  key('keyup', 'Space', canvas);
  expect(received).toEqual(['keyup Space']);
  end();
});

it.each(
  ['pointermove', 'mousemove', 'pointerrawupdate', 'wheel', 'dblclick', 'contextmenu'].concat([
    'dragenter',
    'dragover',
    'drop',
  ]),
)('the game receives no %s during the ad, and again after it', (type) => {
  const { ad, received, release, end } = openAd();
  const controller = new AbortController();
  for (const target of [document, document.body])
    target.addEventListener(type, () => received.push(type), { signal: controller.signal });
  const isDrag = type.startsWith('d') && type !== 'dblclick';
  const dataTransfer = new DataTransfer();
  dataTransfer.dropEffect = 'move';
  const dispatch = (): Event => {
    const init = { bubbles: true, cancelable: true, composed: true };
    const event = isDrag
      ? new DragEvent(type, { ...init, dataTransfer })
      : new (type === 'wheel' ? WheelEvent : MouseEvent)(type, init);
    ad.dispatchEvent(event);
    return event;
  };
  const { defaultPrevented } = dispatch();
  expect(received).toEqual([]);
  // A file that is dropped on the ad would replace the page.
  if (isDrag) expect([defaultPrevented, dataTransfer.dropEffect]).toEqual([true, 'none']);
  else expect(defaultPrevented).toBe(type === 'wheel');
  release();
  dispatch();
  expect(received).toEqual([type, type]);
  controller.abort();
  end();
});
