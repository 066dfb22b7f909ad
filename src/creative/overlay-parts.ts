import type { DecisionCreative } from '../../protocol/wire.ts';
import type { Reward } from '../outcome.ts';
import { fillTemplate, type OverlayStrings } from './strings.ts';

type Child = Node | string;

/**
 * Creates an element with a class, properties and children. Doesn't use markup, because Trusted Types would block it.
 */
export function createElement<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className: string,
  properties: Partial<HTMLElementTagNameMap[Tag]> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  if (className !== '') element.className = className;
  Object.assign(element, properties);
  element.append(...children);
  return element;
}

/** Creates a 24 × 24 icon. */
export function createIcon(path: string): SVGSVGElement {
  const namespace = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(namespace, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  const shape = document.createElementNS(namespace, 'path');
  shape.setAttribute('d', path);
  svg.append(shape);
  return svg;
}

export interface OverlayContent {
  /** The creative; see `LoadedCreative.element`. */
  element: HTMLElement;
  /** `alt` also serves as the title of an ad without a reward, and as the end card's text. */
  creative: Omit<DecisionCreative, 'id' | 'media'>;
  strings: OverlayStrings;
  reward?: Reward | undefined;
}

/** Callbacks for the player's actions. */
export interface OverlayHooks {
  closeRequested(): void;
  closeConfirmed(): void;
  closeCanceled(): void;
  clicked(): void;
  /** The player opened a page other than the advertiser's. */
  pageOpened(): void;
  muteToggled(): void;
  tapped(): void;
  /** The page keeps removing the ad. */
  removed(): void;
}

export const icons = {
  close: 'M6 6l12 12M18 6L6 18',
  soundOn: 'M4 10v4h4l5 4V6l-5 4zM16 9a4 4 0 0 1 0 6M18.5 6.5a8 8 0 0 1 0 11',
  soundOff: 'M4 10v4h4l5 4V6l-5 4zM17 9.5l5 5M22 9.5l-5 5',
  play: 'M8 5l11 7-11 7z',
};

/** The overlay's elements, in their initial state. */
export type OverlayParts = ReturnType<typeof buildOverlay>;

/** Creates the overlay's elements without adding them to the page. */
export function buildOverlay(content: OverlayContent, hooks: OverlayHooks) {
  const { creative, reward, strings } = content;
  const { alt } = creative;
  // The bidirectional isolate keeps the amount in front of its unit in right-to-left text. The space is non-breaking.
  const rewardText = reward && `\u2068${reward.amount}\u00a0${reward.type}\u2069`;
  const title =
    rewardText === undefined ? alt : fillTemplate(strings.watchFor, { reward: rewardText });
  const links = createLinks(content, hooks);
  const bars = createHeader(title, strings, hooks);
  const play = createButton('play main', hooks.tapped, createIcon(icons.play), strings.play);
  const promptText = createElement('p', '');
  const keepWatching = createButton('main', hooks.closeCanceled, strings.keepWatching);
  const ask = createCard(
    'ask',
    strings.askTitle,
    promptText,
    keepWatching,
    createButton('', hooks.closeConfirmed, strings.closeAnyway),
  );
  ask.role = 'alertdialog';
  ask.ariaLabel = strings.askTitle;
  const endCard = createCard(
    'end',
    rewardText === undefined ? strings.thanks : strings.rewardOnItsWay,
    createElement('p', '', {}, alt),
    ...createLinks(content, hooks),
    createButton('', hooks.closeRequested, strings.close),
  );
  const live = createElement('p', 'live', { role: 'status' });
  const { close, mute } = bars;
  mute.hidden = close.hidden = play.hidden = true;
  const frame = createElement(
    'div',
    'frame',
    { tabIndex: -1 },
    bars.header,
    bars.bar,
    createElement('div', 'stage', {}, document.createElement('slot'), play, endCard),
    createElement('footer', '', { hidden: links.length === 0 }, ...links),
  );
  const ariaLabel = `${strings.advertisement}: ${title}`;
  const dialog = createElement('dialog', '', { ariaLabel }, frame, ask, live);
  return {
    ...bars,
    dialog,
    play,
    ask,
    askText: promptText,
    keepWatching,
    endCard,
    live,
    links,
    frame,
  };
}

function createHeader(title: string, strings: OverlayStrings, hooks: OverlayHooks) {
  const iconButton = (name: string, label: string, path: string, onclick: () => void) =>
    Object.assign(createButton(name, onclick, createIcon(path)), {
      ariaLabel: label,
      title: label,
    });
  const heading = createElement('p', 'title', {}, title);
  const time = createElement('span', 'time', { ariaHidden: 'true' });
  const mute = iconButton('mute', strings.mute, icons.soundOn, hooks.muteToggled);
  const close = iconButton('close', strings.close, icons.close, hooks.closeRequested);
  const text = createElement(
    'div',
    'text',
    {},
    heading,
    createElement('p', 'kind', {}, strings.advertisement),
  );
  return {
    header: createElement('header', '', {}, text, time, mute, close),
    bar: createElement('progress', '', { max: 1, value: 0, ariaLabel: strings.advertisement }),
    heading,
    time,
    mute,
    close,
  };
}

const createButton = (name: string, onclick: () => void, ...children: (Node | string)[]) =>
  createElement('button', name, { type: 'button', onclick }, ...children);

const createCard = (name: string, title: string, ...children: Node[]) =>
  createElement(
    'div',
    `panel ${name}`,
    { hidden: true },
    createElement('div', 'card', {}, createElement('h2', '', {}, title), ...children),
  );

/**
 * Returns a list with the link to the advertiser's page, or an empty list if there is none. Only http(s) URLs are
 * allowed, because other schemes, such as `javascript:`, could run a script in this page.
 */
function createLinks({ creative, strings }: OverlayContent, hooks: OverlayHooks) {
  const { click_url: href = '' } = creative;
  if (!/^https?:/i.test(href)) return [];
  const onclick = () => hooks.clicked();
  // A click with the middle button opens a new tab.
  const onauxclick = ({ button }: MouseEvent) => button === 1 && hooks.clicked();
  return [
    createElement(
      'a',
      'main',
      { href, target: '_blank', rel: 'noopener', onclick, onauxclick },
      strings.learnMore,
    ),
  ];
}
