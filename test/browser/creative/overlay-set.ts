import { loadCreative } from '../../../src/creative/renderer.ts';
import { openOverlay } from '../../../src/creative/overlay.ts';
import type { OverlayContent } from '../../../src/creative/overlay-parts.ts';
import { loadStrings } from '../../../src/creative/strings.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import type { DecisionCreative } from '../../../protocol/wire.ts';
import { adChoices, decide, html, image, overlay, video } from '../ad-break/stage-set.ts';

/** The three kinds of creatives. */
export const kinds: Record<string, DecisionCreative['media']> = {
  video,
  image,
  html: html(`port.postMessage({ type: 'ready' })`),
};

/** The states of an overlay, each with the calls that lead to it. */
export const states: Record<string, (opened: ReturnType<typeof openOverlay>) => void> = {
  'at first': () => {},
  'when it can be closed': (opened) => opened.allowClose(),
  'with sound': (opened) => {
    opened.allowClose();
    opened.setMuted(false);
  },
  'waiting for a tap': (opened) => {
    opened.allowClose();
    opened.setMuted(true);
    opened.setTapPrompt(true);
  },
  'asking whether to close': (opened) => {
    opened.allowClose();
    opened.setMuted(true);
    opened.setClosePrompt(true);
  },
  'when the reward is due': (opened) => {
    opened.allowClose();
    opened.setWatched();
  },
  'on the end card': (opened) => {
    opened.allowClose();
    opened.setWatched();
    opened.showEndCard();
  },
};

/** The possible requirements of ads from external sources. */
export const requirements = {
  advertiser: 'Meadow Games',
  icon: { url: adChoices, width: 77, height: 15, click_url: 'https://choices.test/' },
  skip_after_ms: 5_000,
} satisfies Partial<DecisionCreative>;

/** Every language of the overlay. */
export const languages = 'ar de en es fr he id it ja ko nl pl pt ru tr uk zh'.split(' ');

const ignored = () => {};

/** Opens an overlay as an ad break does. The creative is loaded but does not play. */
export async function openInState(
  media: DecisionCreative['media'],
  locale: string,
  {
    creative: changed,
    reward,
  }: { creative?: Partial<DecisionCreative>; reward?: OverlayContent['reward'] } = {},
) {
  document.documentElement.lang = 'en';
  document.title = 'A game';
  document.body.replaceChildren();
  const decision = decide(media, {}, 'https://advertiser.test/');
  const creative = { ...decision.creative, ...changed };
  const loaded = await loadCreative(
    { ...decision, creative },
    { clock: systemClock, signal: new AbortController().signal },
  );
  const opened = openOverlay(
    {
      element: loaded.element,
      externalAd: loaded.externalAd,
      creative,
      strings: await loadStrings(locale),
      reward: reward ?? decision.reward,
    },
    {
      closeRequested: ignored,
      closeConfirmed: ignored,
      closeCanceled: ignored,
      clicked: ignored,
      pageOpened: ignored,
      muteToggled: ignored,
      tapped: ignored,
    },
  );
  opened.progress(0, 12_000);
  return {
    opened,
    ...overlay(),
    end() {
      opened.close();
      loaded.destroy();
    },
  };
}
