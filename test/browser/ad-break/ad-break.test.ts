import { expect, it, vi } from 'vitest';
import { userEvent } from 'vitest/browser';
import { click } from '../engine/real-input.ts';
import { runAdBreak } from '../../../src/ad-break/run-ad-break.ts';
import { noEngine } from '../../../src/engine/no-engine.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { passTime } from './pass-time.ts';
import {
  decide,
  englishText,
  restoredState,
  html,
  image,
  load,
  missingMedia,
  overlay,
  pressUntil,
  setStage,
  video,
} from './stage-set.ts';
import { eventually } from '../../support/eventually.ts';
import { setHidden } from '../../support/set-hidden.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const waitForElement = (selector: string) =>
  eventually(() => {
    const element = overlay().findVisible(selector);
    if (element === undefined) throw new Error(`${selector} is not shown`);
    return element;
  });

for (const [name, media] of [
  ['a video', video],
  ['an image', image],
  ['an HTML creative', html(`port.postMessage({ type: 'ready' })`)],
] as const) {
  it(`rewards the player for watching ${name} to the end, and resumes the game`, async () => {
    const stage = setStage();
    const clock = createManualClock();
    const time = passTime(clock);
    const result = await stage.run(
      decide(media, { min_watch_ms: 2700 }),
      { onStart: time.start },
      { clock },
    );
    expect(result).toEqual({
      outcome: 'rewarded',
      decisionId: 'dec_01jabcdefghjkmnpqrstvwxyz0',
      reward: { type: 'coins', amount: 50 },
    });
    expect(stage.readPageState()).toEqual(restoredState);
    expect(stage.log.slice(0, 3)).toEqual(['hold', 'onOpen', 'track']);
    for (const once of [
      'start',
      'impression',
      'first_quartile',
      'midpoint',
      'third_quartile',
      'complete',
      'watched',
      'close',
      'release',
      'onClose',
    ]) {
      expect(stage.count(once), once).toBe(1);
    }
    const complete = stage.events.find(({ type }) => type === 'complete');
    expect(complete?.watched_ms).toBeGreaterThanOrEqual(2700);
    expect(stage.log.indexOf('complete')).toBeLessThan(stage.log.indexOf('close'));
    expect(stage.log.indexOf('onClose')).toBeLessThan(stage.log.indexOf('confirmation'));
  });
}

it.each([
  ['a video', video],
  ['an image', image],
  ['an HTML creative', html(`port.postMessage({ type: 'ready' })`)],
])('%s that is due before its impression is complete only after it', async (_, media) => {
  const stage = setStage();
  const result = await stage.run(decide(media, { min_watch_ms: 200 }));
  expect(result.outcome).toBe('rewarded');
  expect(stage.log.filter((name) => name === 'impression' || name === 'complete')).toEqual([
    'impression',
    'complete',
  ]);
});

it('ends a video that was moved to its end with an error, not with a completion', async () => {
  const stage = setStage();
  const running = stage.run(decide(video, { min_watch_ms: 2700 }));
  await waitForElement('dialog');
  await eventually(() => expect(stage.count('start')).toBe(1));
  const element = document.querySelector('video');
  if (element) element.currentTime = 2.5;
  expect(await running).toMatchObject({ outcome: 'error', reason: 'ended_early' });
  expect(stage.count('complete')).toBe(0);
  expect(stage.readPageState()).toEqual(restoredState);
});

it('asks for confirmation before the player loses a reward', async () => {
  const stage = setStage();
  const running = stage.run(decide(video, { min_watch_ms: 2900 }));
  await pressUntil('button.close', () => overlay().findVisible('.ask') !== undefined);
  expect(document.querySelector('video')?.paused).toBe(true);
  await click(await waitForElement('.ask .main'));
  expect(overlay().findVisible('.ask')).toBeUndefined();
  await eventually(() => expect(document.querySelector('video')?.paused).toBe(false));
  await userEvent.keyboard('{Escape}');
  await click(await waitForElement('.ask button:last-child'));
  const result = await running;
  expect([result.outcome, 'reward' in result]).toEqual(['dismissed', false]);
  expect(stage.count('complete')).toBe(0);
  expect(stage.log.slice(-4)).toEqual(['skip', 'close', 'release', 'onClose']);
  expect(stage.readPageState()).toEqual(restoredState);
});

it('returns completed for an interstitial that the player closes early', async () => {
  const stage = setStage();
  const decision = decide(image, { format: 'interstitial', min_watch_ms: 60_000 });
  const running = stage.run(decision, { kind: 'interstitial' });
  await eventually(async () => {
    overlay().findVisible('button.close')?.click();
    expect(stage.count('close')).toBe(1);
  });
  expect((await running).outcome).toBe('completed');
  expect(stage.count('confirmation')).toBe(0);
  expect(stage.readPageState()).toEqual(restoredState);
});

it('shows an end card until the player closes it', async () => {
  const stage = setStage();
  const running = stage.run(decide(image, {}, 'https://advertiser.test/'));
  const link = (await waitForElement('.end a')) as HTMLAnchorElement;
  expect([link.target, link.rel]).toEqual(['_blank', 'noopener']);
  // Prevents navigation away from the test page.
  link.removeAttribute('href');
  await eventually(() => {
    link.click();
    expect(stage.count('click')).toBe(1);
  });
  // After a click, input is ignored for a moment.
  await eventually(() => {
    overlay().findVisible('.end button')?.click();
    expect(stage.count('close')).toBe(1);
  });
  expect((await running).outcome).toBe('rewarded');
  expect(stage.count('click')).toBe(1);
  expect(stage.readPageState()).toEqual(restoredState);
});

it('renders no link for a URL that would run a script', async () => {
  const stage = setStage();
  const running = stage.run(decide(image, {}, 'javascript:alert(1)'));
  await waitForElement('dialog');
  expect(overlay().root?.querySelector('a')).toBeNull();
  await click(await waitForElement('.end button'));
  await running;
});

for (const [name, media] of [
  ['a video', missingMedia('video')],
  ['an image', missingMedia('image')],
] as const) {
  it(`does not pause the game if ${name} fails to load`, async () => {
    const stage = setStage();
    const result = await stage.run(decide(media));
    expect(result.outcome).toBe('error');
    expect(stage.log).toEqual([]);
    expect(stage.readPageState()).toEqual(restoredState);
  });
}

it('changes nothing on the page if there is no ad', async () => {
  const stage = setStage();
  const onMutation = vi.fn();
  const observer = new MutationObserver(onMutation);
  observer.observe(document, { subtree: true, childList: true, attributes: true });
  const retryAt = new Date(Date.now() + 60_000);
  const noAd = { outcome: 'cooldown', retryAt } as const;
  const result = await stage.run(decide(image), {}, { take: async () => noAd });
  expect(result).toEqual(noAd);
  await new Promise(requestAnimationFrame);
  observer.disconnect();
  expect(onMutation).not.toHaveBeenCalled();
  expect(stage.log).toEqual([]);
  expect(stage.readPageState()).toEqual(restoredState);
});

it('times out if an HTML creative never becomes ready', async () => {
  const stage = setStage();
  const result = await stage.run(decide(html('')), {}, { loadTimeoutMs: 100 });
  expect(result.outcome).toBe('timeout');
  await eventually(() => expect(stage.readPageState()).toEqual(restoredState));
  expect(stage.log).toEqual([]);
});

it('disconnects an HTML creative that floods the page with messages', async () => {
  const stage = setStage();
  const result = await stage.run(
    decide(
      html(
        `port.postMessage({ type: 'ready' }); for (let i = 0; i < 1e4; i++) port.postMessage({ type: 'click' })`,
      ),
    ),
  );
  expect(result).toMatchObject({ outcome: 'error', reason: 'message_flood' });
  expect(stage.readPageState()).toEqual(restoredState);
});

it('isolates an HTML creative from the page', async () => {
  const stage = setStage();
  const result = await stage.run(
    decide(
      html(`let read = 'nothing'; try { read = parent.document.title } catch { /* blocked */ }
        try { top.location = 'about:blank' } catch { /* blocked */ }
        try { open('about:blank') } catch { /* blocked */ }
        port.postMessage({ type: read === 'nothing' ? 'ready' : 'close' })`),
    ),
  );
  expect(result.outcome).toBe('rewarded');
});

it('asks for confirmation when an HTML creative asks to be closed', async () => {
  const stage = setStage();
  const running = stage.run(
    decide(
      html(`port.postMessage({ type: 'ready' });
        addEventListener('message', () => port.postMessage({ type: 'close' }))`),
      { min_watch_ms: 60_000 },
    ),
  );
  await waitForElement('button.close');
  document.querySelector('iframe')?.contentWindow?.[0]?.postMessage('close', '*');
  await waitForElement('.ask');
  await click(await waitForElement('.ask button:last-child'));
  expect((await running).outcome).toBe('dismissed');
});

it('ends immediately when aborted during the ad', async () => {
  const stage = setStage();
  const controller = new AbortController();
  const running = stage.run(decide(video, { min_watch_ms: 60_000 }), { signal: controller.signal });
  await eventually(() => expect(stage.count('start')).toBe(1));
  controller.abort();
  expect((await running).outcome).toBe('aborted');
  expect(stage.readPageState()).toEqual(restoredState);
  expect(document.querySelector('video')).toBeNull();
});

it('shows no ad if the call is aborted while the ad opens', async () => {
  const stage = setStage();
  const controller = new AbortController();
  const result = await stage.run(decide(video), {
    signal: controller.signal,
    onOpen: () => controller.abort(),
  });
  expect(result.outcome).toBe('aborted');
  expect(stage.readPageState()).toEqual(restoredState);
});

it('requests no ad if the signal is already aborted', async () => {
  const stage = setStage();
  const result = await stage.run(decide(video), { signal: AbortSignal.abort() });
  expect(result).toEqual({ outcome: 'aborted' });
  expect(stage.log).toEqual([]);
});

it('returns invalid_placement for an ad in a different format', async () => {
  const stage = setStage();
  const result = await stage.run(decide(image, { format: 'banner' }));
  expect(result).toMatchObject({ outcome: 'invalid_placement', reason: 'wrong_format' });
  expect(stage.log).toEqual([]);
});

it('keys pressed during the ad do not reach the game', async () => {
  const stage = setStage();
  const received: string[] = [];
  const listener = (event: KeyboardEvent) => received.push(`${event.type} ${event.code}`);
  window.addEventListener('keydown', listener);
  window.addEventListener('keyup', listener);
  await userEvent.keyboard('{ArrowLeft>}');
  const running = stage.run(decide(image, { close_after_ms: 0, min_watch_ms: 60_000 }));
  (await waitForElement('button.close')).focus();
  await userEvent.keyboard('{/ArrowLeft}');
  await userEvent.keyboard('a');
  await eventually(async () => {
    await userEvent.keyboard(' ');
    expect(overlay().findVisible('.ask')).toBeDefined();
  });
  (await waitForElement('.ask button:last-child')).focus();
  await userEvent.keyboard('{Enter}');
  expect((await running).outcome).toBe('dismissed');
  expect(received).toEqual(['keydown ArrowLeft', 'keyup ArrowLeft']);
  window.removeEventListener('keydown', listener);
  window.removeEventListener('keyup', listener);
});

it('pressing Escape repeatedly does not close the ad', async () => {
  const stage = setStage();
  const clock = createManualClock();
  const running = stage.run(decide(image, { close_after_ms: 60_000 }), {}, { clock });
  await eventually(() => expect(stage.count('start')).toBe(1));
  for (let count = 0; count < 3; count += 1) await userEvent.keyboard('{Escape}');
  expect(overlay().dialog?.open).toBe(true);
  passTime(clock).start();
  expect((await running).outcome).toBe('rewarded');
});

it('pauses while the page is hidden and counts no watch time', async () => {
  const stage = setStage();
  const clock = createManualClock();
  const time = passTime(clock, { fastVideo: true });
  const running = stage.run(decide(video, { min_watch_ms: 2700 }), {}, { clock });
  await eventually(() => expect(stage.count('start')).toBe(1));
  setHidden(true);
  expect(document.querySelector('video')?.paused).toBe(true);
  await clock.advance(60_000);
  setHidden(false);
  time.start();
  expect((await running).outcome).toBe('rewarded');
  const complete = stage.events.find(({ type }) => type === 'complete');
  expect(complete?.watched_ms).toBeLessThan(3_100);
});

it('completes the ad even if the game’s handlers throw', async () => {
  const stage = setStage();
  const uncaughtMessages: string[] = [];
  const catchError = (event: ErrorEvent) => {
    uncaughtMessages.push(event.message);
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  window.addEventListener('error', catchError, true);
  const fail = () => {
    throw new Error('an error in the game');
  };
  const result = await stage.run(decide(image), { onOpen: fail, onStart: fail, onClose: fail });
  window.removeEventListener('error', catchError, true);
  expect(result.outcome).toBe('rewarded');
  expect(uncaughtMessages).toHaveLength(3);
});

it('distinguishes a pending reward from a denied one', async () => {
  const stage = setStage();
  stage.confirmAs('pending');
  expect((await stage.run(decide(image))).outcome).toBe('pending');
  stage.confirmAs('denied');
  expect((await stage.run(decide(image))).outcome).toBe('denied');
});

it('shows the first frame of a loaded ad without waiting for storage or requests', async () => {
  const stage = setStage();
  // The ad cannot complete during the test.
  const decision = decide(image, { min_watch_ms: 60_000 });
  const { signal } = new AbortController();
  const ad = await load(decision, { clock: systemClock, signal });
  const requests = vi.spyOn(globalThis, 'fetch');
  const abort = new AbortController();
  const never = () => new Promise<never>(() => {});
  const result = await runAdBreak(
    {
      take: async () => ad,
      enqueue: never,
      rewards: { track: never, setWatched: never, confirmation: never },
      engine: noEngine(stage.canvas),
      clock: systemClock,
      text: englishText,
      confirmationTimeoutMs: 100,
      loadTimeoutMs: 5000,
    },
    // If the first frame were not shown, the test would time out here.
    { placement: 'revive', kind: 'rewarded', signal: abort.signal, onStart: () => abort.abort() },
  );
  expect(result.outcome).toBe('aborted');
  expect(requests).not.toHaveBeenCalled();
});
