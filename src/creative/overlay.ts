import { onInput } from '../platform/front-door.ts';
import { attempt } from '../platform/guard.ts';
import { listen } from '../platform/native.ts';
import { dressHost, findHost } from './host.ts';
import { decorate } from './external-ad.ts';
import {
  buildOverlay,
  createIcon,
  icons,
  type OverlayContent,
  type OverlayHooks,
  type OverlayParts,
} from './overlay-parts.ts';
import { overlayStyle } from './overlay-style.ts';
import { coverPage } from './page-cover.ts';
import { fillTemplate, type OverlayStrings } from './strings.ts';

/** How often an ad that the page removes is put back. */
const maxReturns = 5;

/** The dialog that shows an ad. Its methods only change what is visible; they never call a hook. */
export interface Overlay {
  /** Contains the dialog and the creative. */
  readonly element: HTMLElement;
  progress(watchedMs: number, neededMs: number): void;
  allowClose(): void;
  /** Shows the sound control in its muted or unmuted state. */
  setMuted(muted: boolean): void;
  setTapPrompt(open: boolean): void;
  setClosePrompt(open: boolean): void;
  /** Shows that the reward is due. */
  setWatched(): void;
  showEndCard(): void;
  /** Opens the advertiser's page in a new tab. Requires user activation, such as a recent click. */
  openPage(): void;
  /** Removes the overlay from the page. The browser restores focus. */
  close(): void;
}

/** Opens the overlay on top of everything, including a full-screen game. */
export function openOverlay(content: OverlayContent, hooks: OverlayHooks): Overlay {
  const { strings } = content;
  const parts = buildOverlay(content, hooks);
  const { dialog } = parts;
  const host = findHost(content.element);
  host.lang = strings.language;
  host.dir = strings.direction;
  const root = dressHost(host, document.body, overlayStyle);
  root.append(dialog);
  const onProgress =
    content.creative.advertiser === undefined
      ? undefined
      : decorate(content.creative, parts, strings, hooks);
  if (!host.isConnected) document.body.append(host);
  // Takes the initial focus, so that a key that the player is still holding down doesn't activate a button. An element
  // that has this attribute before it is in the page is refused in another site's frame, with an error in the console.
  parts.frame.autofocus = true;
  try {
    dialog.showModal();
  } catch (error) {
    // The browser doesn't support <dialog> (Safari before 15.4), so remove the host again.
    host.remove();
    throw error;
  }

  let open = true;
  // The Escape key and the back gesture never lose a reward: in the prompt, they mean “keep watching”.
  const goBack = () => (parts.ask.hidden ? hooks.closeRequested() : hooks.closeCanceled());
  dialog.oncancel = (event) => {
    // Chromium lets a page cancel this only once per user gesture. After that, it closes the dialog.
    if (!event.cancelable) return;
    event.preventDefault();
    goBack();
  };
  // Only the ad break may close this dialog, so reopen it.
  dialog.onclose = () => {
    if (!open || dialog.open) return;
    dialog.showModal();
    goBack();
  };
  const bringToFront = () => {
    const focusedElement = root.activeElement;
    dialog.close();
    dialog.showModal();
    if (focusedElement instanceof HTMLElement) focusedElement.focus({ preventScroll: true });
  };
  const stops = [
    // An element that enters full screen covers every open dialog.
    listen(document, 'fullscreenchange', bringToFront),
    watchRemoval(host, bringToFront, hooks.removed),
    trapFocus(root),
    coverPage(),
  ];

  return {
    element: host,
    ...createControls(parts, strings, onProgress),
    openPage: () => parts.links[0]?.click(),
    close() {
      if (!open) return;
      open = false;
      for (const stop of stops) stop();
      dialog.close();
      host.remove();
      // Forces a synchronous layout. Otherwise, WebKit would treat a button inside a canvas element as if it were still
      // covered and would not focus it.
      document.body.getClientRects();
    },
  };
}

/**
 * Puts the ad back when the page removes it, as a page does that renders itself anew. This happens before a video without
 * a document would pause.
 */
function watchRemoval(host: Element, onReturn: () => void, onGone: () => void): () => void {
  let returnsLeft = maxReturns;
  const observer = attempt(() => new MutationObserver(check));
  function check(): void {
    const { body } = document as Partial<Document>;
    if (host.isConnected || !body) return;
    observer?.disconnect();
    if (returnsLeft === 0) return onGone();
    returnsLeft -= 1;
    observe();
    body.append(host);
    onReturn();
  }
  function observe(): void {
    for (const parent of [document.documentElement, document.body])
      observer?.observe(parent, { childList: true });
  }
  observe();
  return () => observer?.disconnect();
}

function createControls(
  parts: OverlayParts,
  strings: OverlayStrings,
  onProgress?: (watchedMs: number) => void,
): Omit<Overlay, 'element' | 'openPage' | 'close'> {
  const { askText, bar, close, endCard, frame, heading, live, mute, play, time } = parts;
  const focus = (element: HTMLElement) => element.focus({ preventScroll: true });
  return {
    progress(watchedMs, neededMs) {
      const seconds = Math.max(0, Math.ceil((neededMs - watchedMs) / 1000));
      const text = fillTemplate(strings.secondsLeft, { seconds });
      if (time.textContent !== text) {
        time.textContent = text;
        askText.textContent = fillTemplate(strings.askText, { seconds });
      }
      bar.value = Math.min(1, watchedMs / neededMs);
      onProgress?.(watchedMs);
    },
    allowClose() {
      close.hidden = false;
    },
    setMuted(muted) {
      const label = muted ? strings.unmute : strings.mute;
      mute.hidden = false;
      mute.ariaLabel = mute.title = label;
      mute.replaceChildren(createIcon(muted ? icons.soundOff : icons.soundOn));
    },
    setTapPrompt(open) {
      if (play.hidden === !open) return;
      if (open) {
        play.hidden = false;
        live.textContent = strings.play;
        focus(play);
      } else {
        const hadFocus = play.matches(':focus');
        play.hidden = true;
        live.textContent = '';
        if (hadFocus) focus(frame);
      }
    },
    setClosePrompt(open) {
      parts.ask.hidden = !open;
      // Keeps keyboard focus in the prompt until the player has responded to it.
      frame.inert = open;
      focus(open ? parts.keepWatching : frame);
    },
    setWatched() {
      bar.value = 1;
      time.hidden = true;
      heading.textContent = live.textContent = strings.rewardOnItsWay;
    },
    showEndCard() {
      play.hidden = mute.hidden = time.hidden = true;
      frame.className += ' over';
      endCard.hidden = false;
      focus(frame);
    },
  };
}

/**
 * Keeps Tab navigation inside the overlay. By default, Tab moves focus from a modal dialog to the browser's own
 * controls (Firefox, WebKit) or skips the buttons (Safari). Keys pressed inside an HTML creative's frame do not reach
 * this page.
 */
export function trapFocus(root: ShadowRoot): () => void {
  return onInput((event) => {
    // WebKitGTK sets no `key` for Shift+Tab.
    if (!(event instanceof KeyboardEvent) || event.type !== 'keydown' || event.code !== 'Tab')
      return;
    if (event.ctrlKey || event.metaKey) return;
    const stops = findTabStops(root);
    // The creative is in the document, not in the shadow root.
    const index = stops.findIndex(
      (stop) => stop === (root.activeElement ?? document.activeElement),
    );
    const movesToEnd = event.shiftKey && index < 1;
    const next = movesToEnd ? stops.at(-1) : (stops[index + (event.shiftKey ? -1 : 1)] ?? stops[0]);
    // In Firefox, scripts cannot move focus into a frame in response to a key press, so leave that to the key's default
    // action.
    if (next instanceof HTMLIFrameElement && !movesToEnd) return;
    event.preventDefault();
    next?.focus();
  });
}

/** Returns the focusable elements, in order. */
export function findTabStops(root: ShadowRoot): HTMLElement[] {
  return Array.from(root.querySelectorAll<HTMLElement>('button, a, slot'))
    .filter((element) => element.closest('[inert]') === null)
    .flatMap((element) => (element instanceof HTMLSlotElement ? findFrames(element) : element))
    .filter((element) => element.getClientRects().length > 0);
}

const findFrames = (slot: HTMLSlotElement) =>
  slot.assignedElements().filter((element) => element instanceof HTMLIFrameElement);
