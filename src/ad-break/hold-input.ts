import { onInput } from '../platform/front-door.ts';
import { listen } from '../platform/native.ts';
import type { InputGate } from './input-gate.ts';
import { createPressJudge, identifyPress } from './press-judge.ts';
import { releasePresses } from './release-presses.ts';

/**
 * Events that follow from presses or end them, scroll the page or drop something. `front-door.ts` listens for the presses
 * themselves.
 */
const otherInput = [
  'dblclick',
  'contextmenu',
  'pointermove',
  'pointerrawupdate',
  'mousemove',
  'touchmove',
  'wheel',
  'dragenter',
  'dragover',
  'drop',
];
const scrollKeys = /^(?: |PageUp|PageDown|End|Home|Arrow(?:Up|Down|Left|Right))$/;

/**
 * Takes all input while an ad is open. Nothing in the page receives it: the ad's controls are operated from here, so the
 * page can't disable them either. The page doesn't scroll behind the ad.
 *
 * The game must see a release event for every key and pointer that was down when the ad opened. If the player releases
 * a key or pointer during the ad, the game receives a synthetic release event after the ad (for pointers, see
 * `release-presses.ts`). A release after the ad reaches the game as usual. A key or pointer that is pressed during the
 * ad never reaches the game.
 *
 * @param ad - The element that contains the ad.
 * @param canvas - The element on which the game listens. Default: `body`.
 * @param gate - Decides whether a press counts.
 * @returns A function that stops withholding input. Call it when the game is running again.
 */
export function holdInput(
  ad: HTMLElement,
  canvas: HTMLElement | null,
  gate: InputGate,
): () => void {
  /** What was pressed during the ad and is still down. */
  const keysInAd = new Set<string>();
  const pointersInAd = new Set<unknown>();
  const judge = createPressJudge(ad, gate);
  const missedKeyReleases: KeyboardEvent[] = [];
  const missedPointerReleases: Event[] = [];

  function onKey(event: KeyboardEvent): void {
    const { code, key, repeat, type } = event;
    // Auto-repeat events are ignored, because the key may have been down when the ad opened.
    if (type === 'keydown' && !repeat) keysInAd.add(code);
    if (type === 'keyup' && !keysInAd.delete(code)) missedKeyReleases.push(event);
    judge.onKey(event);
    const pressesButton = key === ' ' && ad.shadowRoot?.activeElement?.tagName === 'BUTTON';
    if (type === 'keydown' && scrollKeys.test(key) && !pressesButton) event.preventDefault();
    event.stopImmediatePropagation();
  }

  function onPress(event: Event): void {
    const { type } = event;
    const press = identifyPress(event);
    if (type !== 'pointerdown') pointersInAd.delete(press);
    else if (!judge.isForeign(event)) pointersInAd.add(press);
    if (/down$|start$/.test(type)) {
      judge.begin(event);
      // Otherwise, the middle button would start scrolling.
      if (type === 'mousedown' && (event as MouseEvent).button === 1) event.preventDefault();
    } else if (/up$|end$|cancel$/.test(type) && !judge.knows(press)) {
      judge.refuse(press);
      missedPointerReleases.push(event);
      // Otherwise, lifting the finger would click the ad underneath it.
      if (type === 'touchend' && event.cancelable) event.preventDefault();
      return event.stopImmediatePropagation();
    } else if (!judge.isForeign(event)) {
      if (type === 'click' || type === 'auxclick') judge.click(event as MouseEvent);
      else if (type === 'touchend') judge.endTouch(event as TouchEvent);
    }
    // A control on top of the ad that isn't ours, such as a privacy dialog, works as usual.
    if (!judge.isForeign(event)) event.stopImmediatePropagation();
  }

  const onOther = (event: Event): void => {
    if (judge.isForeign(event)) return;
    const { dataTransfer } = event as DragEvent;
    // What the player drags out of the game goes back, and a file from another program doesn't replace the page.
    if (dataTransfer) dataTransfer.dropEffect = 'none';
    if ((dataTransfer || scrollsPage(event)) && event.cancelable) event.preventDefault();
    event.stopImmediatePropagation();
  };
  const { scrollX: left, scrollY: top } = window;
  /** Undoes what the listeners above can't prevent, such as keys that are pressed in a frame. */
  const restoreScroll = (): void => {
    if (scrollX !== left || scrollY !== top) scrollTo({ left, top, behavior: 'instant' });
  };

  /** While the pointer is locked, there is no cursor, and clicks go to the game. */
  function unlockPointer(): void {
    if (document.pointerLockElement) document.exitPointerLock();
  }

  const capture = { capture: true, passive: false };
  const stops = [
    onInput((event) => (event instanceof KeyboardEvent ? onKey(event) : onPress(event))),
    ...otherInput.map((type) => listen(window, type, onOther, capture)),
    listen(window, 'scroll', restoreScroll),
    // The game may have requested pointer lock just before the ad opened.
    listen(document, 'pointerlockchange', unlockPointer),
  ];
  // Browsers fire no release events while an image or a link is being dragged.
  ad.ondragstart = (event) => event.preventDefault();
  unlockPointer();

  return () => {
    for (const stop of stops) stop();
    const game = canvas ?? document.body;
    for (const event of missedKeyReleases) game.dispatchEvent(new KeyboardEvent('keyup', event));
    if (keysInAd.size + pointersInAd.size > 0) withholdUntilReleased(keysInAd, pointersInAd);
    releasePresses(game, missedPointerReleases);
  };
}

/** Whether the event would scroll the page. The player may zoom, and scroll a prompt that doesn't fit on the screen. */
const scrollsPage = (event: Event): boolean =>
  (event instanceof WheelEvent ? !event.ctrlKey : (event as TouchEvent).touches?.length === 1) &&
  !event
    .composedPath()
    .some(
      (element) =>
        element instanceof HTMLElement &&
        element.matches('.panel') &&
        element.scrollHeight > element.clientHeight,
    );

/** Withholds what follows from pressed keys and pointers from the game: auto-repeat, releases and clicks. */
function withholdUntilReleased(keys: Set<string>, pointers: Set<unknown>): void {
  const stop = (): void => {
    stopInput();
    stopBlur();
  };
  const stopInput = onInput((event) => {
    if (event instanceof KeyboardEvent) {
      if (!keys.has(event.code)) return;
      const pressedAgain = event.type === 'keydown' && !event.repeat;
      if (pressedAgain || event.type === 'keyup') keys.delete(event.code);
      if (!pressedAgain) event.stopImmediatePropagation();
    } else if (event.type === 'pointerdown') {
      // Clicks follow a release, with or without another press by an emulated mouse. The next press has its own.
      pointers.clear();
    } else if (
      event instanceof PointerEvent
        ? pointers.has(event.pointerId)
        : pointers.size > 0 && event.isTrusted && event.type.startsWith('mouse')
    ) {
      event.stopImmediatePropagation();
    }
    if (keys.size + pointers.size === 0) stop();
  });
  // If a key is released in another window, this window receives no event.
  const stopBlur = listen(window, 'blur', stop);
}
