import { callGuarded } from '../platform/guard.ts';

/**
 * What the game wants while an ad is up. Whatever it asks of its engine then (to pause, to resume, to play a sound) is
 * remembered, and asked again in the same order when the ad has ended. So the game ends in the same state as without the
 * ad, and during the ad nothing of it runs or sounds.
 */
export interface PostponedCalls {
  /**
   * Postpones the calls of these methods of an object and of everything that inherits from it. Methods that the object
   * doesn't have are skipped.
   */
  postpone<Target extends object>(
    target: Target,
    methods: readonly (keyof Target & string)[],
    options?: PostponeOptions<Target>,
  ): void;
  /** From now on, calls go through again. */
  release(): void;
  /** Makes the postponed calls. One that throws doesn't keep the others from being made. */
  replay(): void;
}

export interface PostponeOptions<Target> {
  /** What a postponed call returns. Default: `undefined`. */
  result?: () => unknown;
  /** Whether to postpone the calls of an object. Called with the object when the call arrives and before it is made. */
  applies?: (receiver: Target) => boolean;
  /** Methods that are also called at once, because they only make the game quieter, or may have no effect yet. */
  atOnce?: readonly string[];
  /** Whether a call that was made at once has had its effect, so that it isn't made again. */
  isDone?: (receiver: Target) => boolean;
}

/** One thing that the game wants. */
export interface Wish {
  /** The object that the game called. */
  subject: object;
  /** What it wants, such as `pause`. */
  name: string;
  /** Asks the engine for it. */
  act(): void;
}

/**
 * Adds a wish to a list. A sound that is started again and again, such as by a timer, must not start thirty times after
 * the ad, so only the last start counts. What is asked twice in a row is asked once.
 */
export function addWish(wishes: readonly Wish[], wish: Wish): Wish[] {
  const isStart = wish.name.startsWith('play');
  const others = isStart ? wishes.filter(({ subject }) => subject === wish.subject) : wishes;
  const last = others[others.length - 1];
  const isRepeated = last?.subject === wish.subject && last.name === wish.name;
  return (isRepeated ? wishes.filter((other) => other !== last) : wishes).concat(wish);
}

export function postponeCalls(): PostponedCalls {
  let wishes: Wish[] = [];
  let released = false;
  const restores: (() => void)[] = [];

  return {
    postpone(target, methods, { applies = () => true, atOnce = [], isDone, result } = {}) {
      for (const name of methods) {
        const method: unknown = target[name];
        if (typeof method !== 'function') continue;
        const replacement = function (this: typeof target, ...args: unknown[]): unknown {
          const call = (): unknown => Reflect.apply(method, this, args);
          if (released || !applies(this)) return call();
          const act = (): void => {
            const outcome = applies(this) ? call() : undefined;
            // A browser may refuse to play, and the game has long had its answer.
            if (outcome instanceof Promise) outcome.catch(() => {});
          };
          const value = atOnce.includes(name) ? call() : result?.();
          if (!isDone?.(this)) wishes = addWish(wishes, { subject: this, name, act });
          return value;
        };
        restores.push(replaceMethod(target, name, replacement));
      }
    },
    release() {
      released = true;
      for (const restore of restores.splice(0)) restore();
    },
    replay() {
      const made = wishes;
      wishes = [];
      for (const { act } of made) callGuarded(act);
    },
  };
}

/** Replaces a method. The returned function restores it, unless the game has replaced it in the meantime. */
function replaceMethod(target: object, name: string, replacement: unknown): () => void {
  const own = Object.getOwnPropertyDescriptor(target, name);
  const wasReplaced = Reflect.defineProperty(target, name, {
    value: replacement,
    configurable: true,
    writable: true,
    enumerable: own?.enumerable ?? false,
  });
  return () => {
    if (!wasReplaced || Reflect.get(target, name) !== replacement) return;
    if (own) Reflect.defineProperty(target, name, own);
    else Reflect.deleteProperty(target, name);
  };
}
