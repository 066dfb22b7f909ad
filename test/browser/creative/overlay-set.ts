import { loadCreative } from '../../../src/creative/load-creative.ts';
import { openOverlay } from '../../../src/creative/overlay.ts';
import type { OverlayContent } from '../../../src/creative/overlay-parts.ts';
import { english, findTranslation, type OverlayStrings } from '../../../src/creative/strings.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import type { DecisionCreative } from '../../../protocol/wire.ts';
import { adChoices, decide, html, image, overlay, video } from '../ad-break/stage-set.ts';

/** One creative of each kind. */
export const kinds: Record<string, DecisionCreative['media']> = {
  video,
  image,
  html: html(`port.postMessage({ type: 'ready' })`),
};

/** The states of an overlay, each with the calls that put the overlay into that state. */
export const states: Record<string, (overlay: ReturnType<typeof openOverlay>) => void> = {
  'at first': () => {},
  'when it can be closed': (overlay) => overlay.allowClose(),
  'with sound': (overlay) => {
    overlay.allowClose();
    overlay.setMuted(false);
  },
  'waiting for a tap': (overlay) => {
    overlay.allowClose();
    overlay.setMuted(true);
    overlay.setTapPrompt(true);
  },
  'asking whether to close': (overlay) => {
    overlay.allowClose();
    overlay.setMuted(true);
    overlay.setClosePrompt(true);
  },
  'when the reward is due': (overlay) => {
    overlay.allowClose();
    overlay.setWatched();
  },
  'on the end card': (overlay) => {
    overlay.allowClose();
    overlay.setWatched();
    overlay.showEndCard();
  },
};

/** Everything that an external source may require for its ad. */
export const requirements = {
  advertiser: 'Meadow Games',
  icon: { url: adChoices, width: 77, height: 15, click_url: 'https://choices.test/' },
  skip_after_ms: 5_000,
} satisfies Partial<DecisionCreative>;

/** Every language that the overlay supports. */
export const languages = 'ar de en es fr he id it ja ko nl pl pt ru tr uk zh'.split(' ');

const ignore = () => {};

/** Opens an overlay as an ad break does. The creative is loaded but does not play. */
export async function openInState(
  media: DecisionCreative['media'],
  locale: string,
  {
    creative: creativeOverrides,
    reward,
  }: { creative?: Partial<DecisionCreative>; reward?: OverlayContent['reward'] } = {},
) {
  document.documentElement.lang = 'en';
  document.title = 'A game';
  document.body.replaceChildren();
  const decision = decide(media, {}, 'https://advertiser.test/');
  const creative = { ...decision.creative, ...creativeOverrides };
  const loaded = await loadCreative(
    { ...decision, creative },
    { clock: systemClock, signal: new AbortController().signal },
  );
  const adOverlay = openOverlay(
    {
      element: loaded.element,
      creative,
      strings: ((await findTranslation(locale)?.())?.default ?? english) as OverlayStrings,
      reward: reward ?? decision.reward,
    },
    {
      closeRequested: ignore,
      closeConfirmed: ignore,
      closeCanceled: ignore,
      clicked: ignore,
      pageOpened: ignore,
      muteToggled: ignore,
      tapped: ignore,
      removed: ignore,
    },
  );
  adOverlay.progress(0, 12_000);
  return {
    overlay: adOverlay,
    ...overlay(),
    end() {
      adOverlay.close();
      loaded.destroy();
    },
  };
}
