import { releasePresses } from '../ad-break/release-presses.ts';
import { identifyPress } from '../ad-break/press-judge.ts';
import type { EngineDriver } from '../engine/engine-driver.ts';
import { countHolds } from '../platform/count-holds.ts';
import { callGuarded } from '../platform/guard.ts';
import { inputTypes, type onInput } from '../platform/front-door.ts';
import { listen } from '../platform/native.ts';

/** Holds the game. The returned function may be called more than once. */
export type Hold = () => () => void;

export interface HoldDeps {
  engine: EngineDriver;
  /** With a script tag, this code is loaded late, so it listens through what was loaded first. */
  onInput: typeof onInput;
}

/**
 * Creates a function that holds the game. Ads and the portal's own pauses overlap in any order, so the game goes on
 * when the last of them has ended.
 */
export const createHold = ({ engine, onInput: listenFirst }: HoldDeps): Hold =>
  countHolds(() => {
    const releases: (() => void)[] = [];
    callGuarded(() => releases.push(engine.hold()));
    callGuarded(() => releases.push(holdInput(engine.focusTarget(), listenFirst)));
    // Each step is guarded separately. The game must go on even if a step fails.
    return () => releases.forEach(callGuarded);
  }).hold;

const moves = ['dblclick', 'contextmenu', 'pointermove', 'mousemove', 'wheel', 'touchmove'];
const scrollKeys = /^(?: |PageUp|PageDown|End|Home|Arrow(?:Up|Down|Left|Right))$/;

/**
 * Withholds input from the game. What is aimed at the game, that is, events on its canvas and keys without a focused
 * element, reaches nobody. The portal's ad is often in the same page, in elements that we don't know, so everything else
 * reaches the ad, but not the window, where engines listen for presses outside their canvas. The game receives a release
 * event for everything that was down before, and none for what was pressed in the meantime.
 */
function holdInput(canvas: HTMLElement | null, listenFirst: typeof onInput): () => void {
  const surfaces = canvas ? [canvas] : Array.from(document.querySelectorAll('canvas'));
  const isForGame = ({ target }: Event): boolean =>
    target === document.body ||
    target === document.documentElement ||
    !(target instanceof Element) ||
    surfaces.some((surface) => surface.contains(target));
  const pressed = new Set<unknown>();
  const missedKeys: KeyboardEvent[] = [];
  const missedPresses: Event[] = [];

  function onKey(event: KeyboardEvent): void {
    const { code, key, repeat, type } = event;
    if (type === 'keydown' && !repeat) pressed.add(code);
    if (type === 'keyup' && !pressed.delete(code)) missedKeys.push(event);
    // The game prevents this itself, but doesn't see the key now.
    if (scrollKeys.test(key) && isForGame(event)) event.preventDefault();
  }
  function onPress(event: Event): void {
    const press = identifyPress(event);
    if (/down$|start$/.test(event.type)) pressed.add(press);
    else if (/up$|end$|cancel$/.test(event.type) && !pressed.has(press)) missedPresses.push(event);
  }
  const stops = [
    listenFirst((event) => {
      if (event instanceof KeyboardEvent) onKey(event);
      else onPress(event);
      if (isForGame(event)) event.stopImmediatePropagation();
    }),
    ...moves.map((type) =>
      listen(window, type, (event) => isForGame(event) && event.stopImmediatePropagation(), {
        capture: true,
        passive: true,
      }),
    ),
    ...inputTypes
      .concat(moves)
      .map((type) => listen(document, type, (event) => event.stopPropagation(), { passive: true })),
  ];
  return () => {
    for (const stop of stops) stop();
    const game = canvas ?? document.body;
    for (const event of missedKeys) game.dispatchEvent(new KeyboardEvent('keyup', event));
    releasePresses(game, missedPresses);
  };
}
