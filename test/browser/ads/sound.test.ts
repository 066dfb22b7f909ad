import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { click } from '../engine/real-input.ts';
import { showBanner } from '../../../src/ad-break/show-banner.ts';
import { createAds } from '../../../src/index.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { setHidden } from '../../support/set-hidden.ts';
import { createPublishableKey, createStubService } from '../../support/stub-service.ts';
import {
  decide,
  html,
  load,
  overlay,
  pauseBySystem,
  pressUntil,
  setStage,
  video,
} from '../ad-break/stage-set.ts';

/** An HTML creative that tells the test every message it receives. */
const talkative = html(`
  port.onmessage = ({ data }) => {
    const { type, muted } = data;
    parent.parent.postMessage({ heard: type + (muted === undefined ? '' : ' ' + muted) }, '*');
  };
  port.postMessage({ type: 'ready' });
`);
let heard: string[];

beforeEach(() => {
  document.body.replaceChildren();
  heard = [];
  const listener = ({ data }: MessageEvent<{ heard?: string } | undefined>): void => {
    if (data?.heard !== undefined) heard.push(data.heard);
  };
  addEventListener('message', listener);
  onTestFinished(() => removeEventListener('message', listener));
});

const press = async (selector: string): Promise<void> => {
  await eventually(() => expect(overlay().findVisible(selector)).toBeDefined());
  const button = overlay().findVisible(selector);
  if (button) await click(button);
};
const hears = (...messages: string[]) => eventually(() => expect(heard).toEqual(messages));

describe('an HTML ad', () => {
  it('hears about everything that concerns its sound, and nothing before it is shown', async () => {
    const stage = setStage();
    const abort = new AbortController();
    const decision = decide(talkative, { min_watch_ms: 60_000, close_after_ms: 0 });
    const ad = await load(decision, { clock: systemClock, signal: abort.signal });
    expect(heard).toEqual([]);
    const running = stage.run(decision, { signal: abort.signal }, { take: async () => ad });
    await hears('mute false', 'viewable');
    // The ad ignores input for a moment. A player presses again.
    await pressUntil(
      'button.mute',
      () => overlay().findVisible('button.mute')?.ariaLabel === 'Turn sound on',
    );
    await hears('mute false', 'viewable', 'mute true');
    heard = [];
    await press('button.close');
    await hears('pause');
    await press('.ask .main');
    await hears('pause', 'resume');
    setHidden(true);
    setHidden(false);
    await hears('pause', 'resume', 'pause', 'resume');
    abort.abort();
    await running;
  });

  it('is paused behind its end card', async () => {
    const stage = setStage();
    const running = stage.run(decide(talkative, {}, 'https://advertiser.test/'), { muted: true });
    await hears('mute true', 'viewable', 'pause');
    await press('.end button');
    await running;
  });

  it('has no sound button if it is silent', async () => {
    const stage = setStage();
    const abort = new AbortController();
    const silent = html(`port.postMessage({ type: 'ready', sound: false })`);
    const running = stage.run(decide(silent), { signal: abort.signal });
    await eventually(() => expect(stage.count('start')).toBe(1));
    expect(overlay().findVisible('button.mute')).toBeUndefined();
    abort.abort();
    await running;
  });
});

it('starts an ad as the player left the last one', async () => {
  const service = createStubService();
  service.respond = () => ({ creative: decide(talkative).creative, min_watch_ms: 60_000 });
  const ads = createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://play.test',
    userRef: 'player-1',
    fetch: service.fetch,
  });
  onTestFinished(() => ads.destroy());
  for (const [call, expected] of [
    [{}, 'mute false'],
    [{}, 'mute true'],
    [{ muted: false }, 'mute false'],
  ] as const) {
    heard = [];
    const abort = new AbortController();
    const running = ads.showRewarded('revive', { ...call, signal: abort.signal });
    await hears(expected, 'viewable');
    if (expected === 'mute false') {
      await pressUntil(
        'button.mute',
        () => overlay().findVisible('button.mute')?.ariaLabel === 'Turn sound on',
      );
      await hears(expected, 'viewable', 'mute true');
    }
    abort.abort();
    await running;
  }
});

describe('a banner', () => {
  const { signal } = new AbortController();
  let remove: AbortController;
  afterEach(() => remove.abort());

  async function show(media: Parameters<typeof decide>[0]) {
    const slot = document.createElement('div');
    slot.style.cssText = 'position:absolute;top:0;width:320px';
    document.body.append(slot);
    remove = new AbortController();
    const ad = await load(decide(media, { format: 'banner' }), { clock: systemClock, signal });
    const events: string[] = [];
    await showBanner(
      {
        clock: systemClock,
        loadTimeoutMs: 5_000,
        take: async () => ad,
        enqueue: async ({ type }) => void events.push(type),
        note() {},
      },
      'lobby',
      slot,
      remove.signal,
    );
    return { slot, events };
  }
  async function showVideo() {
    const banner = await show(video);
    const element = banner.slot.querySelector('video');
    if (!element) throw new Error('There is no video.');
    // Otherwise, the clip could end on a busy machine. WebKitGTK can't pause or mute a video that plays slowly.
    element.loop = true;
    await eventually(() => expect(element.paused).toBe(false));
    return { ...banner, element };
  }

  it('is silent', async () => {
    const { element } = await showVideo();
    expect(element.muted).toBe(true);
    await show(talkative);
    await eventually(() => expect(heard).toContain('viewable'));
    expect(heard.filter((message) => message.startsWith('mute'))).toEqual(['mute true']);
  });

  it.each<[string, (slot: HTMLElement) => unknown, (slot: HTMLElement) => unknown]>([
    ['the page is hidden', () => setHidden(true), () => setHidden(false)],
    [
      'it is outside the viewport',
      (slot) => (slot.style.top = '9000px'),
      (slot) => (slot.style.top = '0'),
    ],
    ['it is not displayed', (slot) => (slot.hidden = true), (slot) => (slot.hidden = false)],
  ])('is paused while %s', async (_name, hide, reveal) => {
    const { element, slot } = await showVideo();
    hide(slot);
    await eventually(() => expect(element.paused).toBe(true));
    reveal(slot);
    await eventually(() => expect(element.paused).toBe(false));
  });

  it('is paused behind an ad', async () => {
    const { element } = await showVideo();
    await show(talkative);
    await eventually(() => expect(heard).toContain('viewable'));
    const slots = [...document.body.children];
    heard = [];
    const stage = setStage();
    document.body.append(...slots);
    const abort = new AbortController();
    const running = stage.run(decide(video, { min_watch_ms: 60_000 }), { signal: abort.signal });
    await eventually(() => expect(stage.count('onOpen')).toBe(1));
    await eventually(() => expect(element.paused).toBe(true));
    abort.abort();
    await running;
    await eventually(() => expect(element.paused).toBe(false));
  });

  it('resumes after the system has paused it', async () => {
    const { element } = await showVideo();
    pauseBySystem(element);
    await eventually(() => expect(element.paused).toBe(false));
  });

  it('counts as viewed after two seconds of playback', async () => {
    const { events } = await showVideo();
    await eventually(() => expect(events).toContain('impression'));
  });
});
