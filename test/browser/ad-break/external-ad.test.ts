import { expect, it } from 'vitest';
import { userEvent } from 'vitest/browser';
import { click } from '../engine/real-input.ts';
import type { DecisionCreative } from '../../../protocol/wire.ts';
import { eventually } from '../../support/eventually.ts';
import {
  adChoices,
  decide,
  restoredState,
  overlay,
  pressUntil,
  setStage,
  video,
} from './stage-set.ts';

const icon = { url: adChoices, width: 77, height: 15, click_url: 'https://choices.test/' };

/** Creates a decision for a video from an external source: a rewarded ad by default, or an interstitial. */
function decideExternal(
  more: Partial<DecisionCreative>,
  format: 'rewarded' | 'interstitial' = 'rewarded',
) {
  const decision = decide(video, { format, min_watch_ms: 2_900, close_after_ms: 60_000 });
  return { ...decision, creative: { ...decision.creative, advertiser: 'Meadow Games', ...more } };
}

const waitForElement = (selector: string) =>
  eventually(() => {
    const element = overlay().findVisible(selector);
    if (element === undefined) throw new Error(`${selector} is not shown`);
    return element;
  });

const waitUntilPlaying = () =>
  eventually(() => expect(document.querySelector('video')?.paused).toBe(false));

it('gives no reward for an ad that the player skips', async () => {
  const stage = setStage();
  const running = stage.run(decideExternal({ skip_after_ms: 500 }));
  const isAsking = () => overlay().findVisible('.ask') !== undefined;
  await pressUntil('.skip', isAsking);
  // The prompt warns that the reward would be lost. The player keeps watching, for less time than is left.
  await pressUntil('.ask .main', () => !isAsking());
  await waitUntilPlaying();
  await pressUntil('.skip', isAsking);
  await click(await waitForElement('.ask button:last-child'));
  expect((await running).outcome).toBe('dismissed');
  expect(stage.log.slice(-4)).toEqual(['skip', 'close', 'release', 'onClose']);
  for (const never of ['complete', 'watched', 'confirmation']) expect(stage.count(never)).toBe(0);
  expect(stage.readPageState()).toEqual(restoredState);
});

it('can be skipped with the Escape key, but not before the skip control appears', async () => {
  const stage = setStage();
  const decision = decideExternal({ skip_after_ms: 1_000 }, 'interstitial');
  const running = stage.run(decision, { kind: 'interstitial' });
  await eventually(() => expect(stage.count('start')).toBe(1));
  expect(overlay().findVisible('.skip')).toBeUndefined();
  await userEvent.keyboard('{Escape}');
  await waitForElement('.skip');
  await userEvent.keyboard('{Escape}');
  expect((await running).outcome).toBe('completed');
  const skip = stage.events.find(({ type }) => type === 'skip');
  expect(skip?.watched_ms).toBeGreaterThanOrEqual(1_000);
  expect(stage.readPageState()).toEqual(restoredState);
});

it('keeps the reward if the player skips the ad once the reward is due', async () => {
  const stage = setStage();
  const decision = { ...decideExternal({ skip_after_ms: 500 }), min_watch_ms: 500 };
  const running = stage.run(decision);
  await eventually(() => expect(stage.count('complete')).toBe(1));
  await pressUntil('.skip', () => stage.count('close') === 1);
  expect((await running).outcome).toBe('rewarded');
  expect(stage.count('skip')).toBe(0);
});

it('has no skip control unless the ad requires one', async () => {
  const stage = setStage();
  const abort = new AbortController();
  const external = stage.run(decideExternal({ icon }), { signal: abort.signal });
  await waitForElement('.icon');
  await eventually(() => expect(stage.count('first_quartile')).toBe(1));
  expect(overlay().findVisible('.skip')).toBeUndefined();
  abort.abort();
  await external;
  const secondAbort = new AbortController();
  const house = stage.run(decide(video), { signal: secondAbort.signal });
  await waitForElement('dialog');
  expect(overlay().root?.querySelector('.icon, .skip')).toBeNull();
  secondAbort.abort();
  await house;
});

it('pauses the ad while the AdChoices page is open', async () => {
  const stage = setStage();
  const abort = new AbortController();
  const running = stage.run(decideExternal({ icon }), { signal: abort.signal });
  const link = (await waitForElement('.icon a')) as HTMLAnchorElement;
  expect([link.href, link.target, link.rel]).toEqual([
    'https://choices.test/',
    '_blank',
    'noopener',
  ]);
  await eventually(() => expect(stage.count('start')).toBe(1));
  // Prevents navigation away from the test page.
  link.removeAttribute('href');
  // At first, input is ignored.
  await eventually(() => {
    link.click();
    expect(document.querySelector('video')?.paused).toBe(true);
  });
  expect(document.querySelector('video')?.paused).toBe(true);
  window.dispatchEvent(new Event('focus'));
  await waitUntilPlaying();
  abort.abort();
  await running;
  expect(stage.count('click')).toBe(0);
});

it('shows an icon’s text if its image fails to load', async () => {
  const stage = setStage();
  const abort = new AbortController();
  const brokenIcon = { ...icon, url: 'data:image/png,', click_url: 'javascript:alert(1)' };
  const running = stage.run(decideExternal({ icon: brokenIcon }), { signal: abort.signal });
  await waitForElement('.icon');
  await eventually(() => expect(overlay().findVisible('.icon')?.textContent).toBe('AdChoices'));
  expect(overlay().root?.querySelector('.icon a')).toBeNull();
  abort.abort();
  await running;
});
