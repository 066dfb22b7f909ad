import type { Reward } from '../outcome.ts';
import { icon, make } from './dom.ts';
import { overlayStyle } from './overlay-style.ts';
import { fill, type OverlayStrings } from './strings.ts';
import { swallowKeys } from './swallow-keys.ts';

export interface OverlayContent {
  /** The creative; see `LoadedCreative.element`. */
  element: HTMLElement;
  strings: OverlayStrings;
  /** What a player who can't see the ad is told; also the text of the end card. */
  alt: string;
  reward?: Reward | undefined;
  clickUrl?: string | undefined;
}

/** What the player does. */
export interface OverlayHooks {
  closeRequested(): void;
  closeConfirmed(): void;
  closeCancelled(): void;
  clicked(): void;
  muteToggled(): void;
  tapped(): void;
}

/** The dialog that an ad is shown in. Each method sets what is seen; none of them tells a hook. */
export interface Overlay {
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

const icons = {
  close: 'M6 6l12 12M18 6L6 18',
  soundOn: 'M4 10v4h4l5 4V6l-5 4zM16 9a4 4 0 0 1 0 6M18.500 6.500a8 8 0 0 1 0 11',
  soundOff: 'M4 10v4h4l5 4V6l-5 4zM17 9.500l5 5M22 9.500l-5 5',
  play: 'M8 5l11 7-11 7z',
};

/** Opens the overlay over everything, also over a game in full screen. */
export function openOverlay(content: OverlayContent, hooks: OverlayHooks): Overlay {
  const { strings } = content;
  const parts = build(content, hooks);
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

  const letKeysGo = swallowKeys();
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
  dialog.showModal();
  const comeToTheFront = () => {
    const focused = root.activeElement;
    dialog.close();
    dialog.showModal();
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  };
  // What goes full screen goes over every dialog that is open already.
  document.addEventListener('fullscreenchange', comeToTheFront);

  return {
    ...controls(parts, strings),
    openPage: () => parts.links[0]?.click(),
    close() {
      if (!open) return;
      open = false;
      document.removeEventListener('fullscreenchange', comeToTheFront);
      letKeysGo();
      dialog.close();
      host.remove();
    },
  };
}

type Parts = ReturnType<typeof build>;

function build({ alt, clickUrl, reward, strings }: OverlayContent, hooks: OverlayHooks) {
  // The amount stays before its unit and on its line, also in the middle of Arabic.
  const rewardText =
    reward === undefined ? undefined : `\u2068${reward.amount}\u00a0${reward.type}\u2069`;
  const title = rewardText === undefined ? alt : fill(strings.watchFor, { reward: rewardText });
  const button = (name: string, text: string, onclick: () => void) =>
    make('button', name, { type: 'button', onclick }, text);
  const iconButton = (name: string, label: string, path: string, onclick: () => void) =>
    make('button', name, { type: 'button', ariaLabel: label, title: label, onclick }, icon(path));
  // Anything but http(s) could run script in this page.
  const link = () =>
    clickUrl !== undefined && /^https?:/i.test(clickUrl)
      ? [
          make(
            'a',
            'main',
            { href: clickUrl, target: '_blank', rel: 'noopener', onclick: () => hooks.clicked() },
            strings.learnMore,
          ),
        ]
      : [];
  const links = link();
  const heading = make('p', 'title', {}, title);
  const time = make('span', 'time', { ariaHidden: 'true' });
  const mute = iconButton('mute', strings.mute, icons.soundOn, hooks.muteToggled);
  const close = iconButton('close', strings.close, icons.close, hooks.closeRequested);
  const bar = make('progress', '', { max: 1, value: 0, ariaLabel: strings.advertisement });
  const play = make(
    'button',
    'play main',
    { type: 'button', onclick: hooks.tapped },
    icon(icons.play),
    strings.play,
  );
  const askText = make('p', '');
  const keepWatching = button('main', strings.keepWatching, hooks.closeCancelled);
  const ask = make(
    'div',
    'panel ask',
    { role: 'alertdialog', ariaLabel: strings.askTitle },
    make(
      'div',
      'card',
      {},
      make('h2', '', {}, strings.askTitle),
      askText,
      keepWatching,
      button('', strings.closeAnyway, hooks.closeConfirmed),
    ),
  );
  const endCard = make(
    'div',
    'panel end',
    {},
    make(
      'div',
      'card',
      {},
      make('h2', '', {}, rewardText === undefined ? strings.thanks : strings.rewardOnItsWay),
      make('p', '', {}, alt),
      ...link(),
      button('', strings.close, hooks.closeRequested),
    ),
  );
  const live = make('p', 'live', { role: 'status' });
  const footer = make('footer', '', {}, ...links);
  footer.hidden = links.length === 0;
  mute.hidden = close.hidden = play.hidden = ask.hidden = endCard.hidden = true;
  const frame = make(
    'div',
    'frame',
    // The keyboard is here at first: a key that the player still hits for the game presses nothing.
    { tabIndex: -1, autofocus: true },
    make(
      'header',
      '',
      {},
      make('div', 'text', {}, heading, make('p', 'kind', {}, strings.advertisement)),
      time,
      mute,
      close,
    ),
    bar,
    make('div', 'stage', {}, document.createElement('slot'), play, endCard),
    footer,
  );
  const dialog = make(
    'dialog',
    '',
    { ariaLabel: `${strings.advertisement}: ${title}` },
    frame,
    ask,
    live,
  );
  return {
    dialog,
    heading,
    time,
    mute,
    close,
    bar,
    play,
    ask,
    askText,
    keepWatching,
    endCard,
    live,
    links,
    frame,
  };
}

function controls(parts: Parts, strings: OverlayStrings): Omit<Overlay, 'openPage' | 'close'> {
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
