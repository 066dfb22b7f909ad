import { countHolds } from '../platform/count-holds.ts';
import { attempt } from '../platform/guard.ts';
import { listen } from '../platform/native.ts';

type Mute = Required<Pick<PropertyDescriptor, 'get' | 'set'>> & PropertyDescriptor;

/** A page is muted once, however many portals mute it. */
const holds = countHolds(muteAll);

/**
 * Mutes the page's videos and sounds, also those that start later. The game may mute and unmute them meanwhile, and reads
 * what it has set. The returned function lets the page sound again, as the game wants it by then.
 */
export const mutePage = (): (() => void) => holds.hold();

function muteAll(): () => void {
  const { prototype } = HTMLMediaElement;
  const own = Object.getOwnPropertyDescriptor(prototype, 'muted') as Mute;
  const { play } = prototype;
  const isMuted = (element: HTMLMediaElement): boolean => own.get.call(element) as boolean;
  /** For each element, whether the game wants it to be muted. */
  const wishes = new WeakMap<HTMLMediaElement, boolean>();
  // Some games create an element for every shot.
  const elements: WeakRef<HTMLMediaElement>[] = [];
  let hasEnded = false;

  function mute(element: unknown): void {
    if (hasEnded || !(element instanceof HTMLMediaElement) || wishes.has(element)) return;
    wishes.set(element, isMuted(element));
    elements.push(new WeakRef(element));
    own.set.call(element, true);
  }
  const muted: PropertyDescriptor = {
    ...own,
    get(this: HTMLMediaElement) {
      return wishes.get(this) ?? isMuted(this);
    },
    set(this: HTMLMediaElement, value: unknown) {
      if (wishes.has(this)) wishes.set(this, Boolean(value));
      else own.set.call(this, value);
    },
  };
  // A sound that isn't part of the page, such as `new Audio()`, is found when the game plays it.
  const mutedPlay = function (this: HTMLMediaElement): Promise<void> {
    mute(this);
    return Reflect.apply(play, this, []);
  };
  attempt(() => Object.defineProperty(prototype, 'muted', muted));
  attempt(() => (prototype.play = mutedPlay));
  document.querySelectorAll('audio, video').forEach(mute);
  const stop = listen(document, 'play', ({ target }) => mute(target), { capture: true });

  return () => {
    stop();
    hasEnded = true;
    // Unless something else has been put in their place, which may call them.
    if (Object.getOwnPropertyDescriptor(prototype, 'muted')?.set === muted.set)
      Object.defineProperty(prototype, 'muted', own);
    if (prototype.play === mutedPlay) prototype.play = play;
    for (const reference of elements) {
      const element = reference.deref();
      if (!element) continue;
      own.set.call(element, wishes.get(element));
      wishes.delete(element);
    }
  };
}
