import {
  buildOverlay,
  icon,
  icons,
  type OverlayContent,
  type OverlayHooks,
  type OverlayParts,
} from './overlay-parts.ts';
import { overlayStyle } from './overlay-style.ts';
import { fill, type OverlayStrings } from './strings.ts';

/** The dialog that shows an ad. Methods only change what is visible; none of them calls a hook. */
export interface Overlay {
  /** Contains the dialog and the creative. */
  readonly element: HTMLElement;
  progress(watchedMs: number, neededMs: number): void;
  allowClose(): void;
  /** Shows the sound control, in this state. */
  setMuted(muted: boolean): void;
  askTap(asking: boolean): void;
  askClose(asking: boolean): void;
  /** The reward is due. */
  setWatched(): void;
  showEndCard(): void;
  /** Opens the advertiser's page in a new tab; needs a click of the player shortly before. */
  openPage(): void;
  /** Takes the overlay out of the page; the browser gives the keyboard back. */
  close(): void;
}

/** Opens the overlay on top of everything, including a full-screen game. */
export function openOverlay(content: OverlayContent, hooks: OverlayHooks): Overlay {
  const { strings } = content;
  const parts = buildOverlay(content, hooks);
  const { dialog } = parts;
  const host = content.element.parentElement ?? document.createElement('div');
  host.hidden = false;
  host.lang = strings.language;
  host.dir = strings.direction;
  const root = host.attachShadow({ mode: 'open' });
  root.adoptedStyleSheets = [overlayStyle()];
  root.append(dialog);
  if (content.element.parentElement !== host) host.append(content.element);
  if (!host.isConnected) document.body.append(host);
  try {
    dialog.showModal();
  } catch (error) {
    // A browser without it (Safari before 15.4): the game gets back a page as it was.
    host.remove();
    throw error;
  }

  const releaseFocus = trapFocus(root);
  let open = true;
  dialog.oncancel = (event) => {
    event.preventDefault();
    hooks.closeRequested();
  };
  // A browser lets the second Escape in a row close any dialog; the way out is ours to decide.
  dialog.onclose = () => {
    if (!open || dialog.open) return;
    dialog.showModal();
    hooks.closeRequested();
  };
  const comeToTheFront = () => {
    const focused = root.activeElement;
    dialog.close();
    dialog.showModal();
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  };
  // What goes full screen goes over every dialog that is open already.
  document.addEventListener('fullscreenchange', comeToTheFront);

  return {
    element: host,
    ...controls(parts, strings),
    openPage: () => parts.links[0]?.click(),
    close() {
      if (!open) return;
      open = false;
      document.removeEventListener('fullscreenchange', comeToTheFront);
      releaseFocus();
      dialog.close();
      host.remove();
      // Until WebKit looks anew, a button in a canvas counts as covered still, and gets no focus.
      document.body.getClientRects();
    },
  };
}

function controls(
  parts: OverlayParts,
  strings: OverlayStrings,
): Omit<Overlay, 'element' | 'openPage' | 'close'> {
  const { askText, bar, close, endCard, frame, heading, live, mute, play, time } = parts;
  const focus = (element: HTMLElement) => element.focus({ preventScroll: true });
  return {
    progress(watchedMs, neededMs) {
      const seconds = Math.max(0, Math.ceil((neededMs - watchedMs) / 1000));
      const text = fill(strings.secondsLeft, { seconds });
      if (time.textContent !== text) {
        time.textContent = text;
        askText.textContent = fill(strings.askText, { seconds });
      }
      bar.value = Math.min(1, watchedMs / neededMs);
    },
    allowClose() {
      close.hidden = false;
    },
    setMuted(muted) {
      const label = muted ? strings.unmute : strings.mute;
      mute.hidden = false;
      mute.ariaLabel = mute.title = label;
      mute.replaceChildren(icon(muted ? icons.soundOff : icons.soundOn));
    },
    askTap(asking) {
      play.hidden = !asking;
      if (asking) {
        live.textContent = strings.play;
        focus(play);
      }
    },
    askClose(asking) {
      parts.ask.hidden = !asking;
      // Until it is answered, the keyboard has nothing else to reach.
      frame.inert = asking;
      focus(asking ? parts.keepWatching : frame);
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
 * Keeps the Tab key inside the overlay. By default, browsers move it from a modal dialog to their own controls
 * (Firefox, WebKit) or skip the buttons (Safari). Keys pressed inside the frame of an HTML creative do not reach
 * this page.
 */
export function trapFocus(root: ShadowRoot): () => void {
  const turn = (event: KeyboardEvent) => {
    // With Shift, WebKitGTK has no `key` for it.
    if (event.code !== 'Tab' || event.ctrlKey || event.metaKey) return;
    const stops = stopsOf(root);
    // The creative is in the page, and not in the root.
    const at = stops.findIndex((stop) => stop === (root.activeElement ?? document.activeElement));
    const last = event.shiftKey && at < 1;
    const next = last ? stops.at(-1) : (stops[at + (event.shiftKey ? -1 : 1)] ?? stops[0]);
    // Firefox lets no script answer a key by going into a frame; the way there it finds by itself.
    if (next instanceof HTMLIFrameElement && !last) return;
    event.preventDefault();
    next?.focus();
  };
  window.addEventListener('keydown', turn, true);
  return () => window.removeEventListener('keydown', turn, true);
}

/** The focusable elements, in order. */
function stopsOf(root: ShadowRoot): HTMLElement[] {
  return Array.from(root.querySelectorAll<HTMLElement>('button, a, slot'))
    .filter((element) => element.closest('[inert]') === null)
    .flatMap((element) => (element instanceof HTMLSlotElement ? frames(element) : element))
    .filter((element) => element.getClientRects().length > 0);
}

const frames = (slot: HTMLSlotElement) =>
  slot.assignedElements().filter((element) => element instanceof HTMLIFrameElement);
