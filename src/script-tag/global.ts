import type { Ads } from '../index.ts';

/** Called with the `Ads` instance that the tag has started. */
export type Command = (ads: Ads) => void;

declare global {
  /** What the script tags bring; each file adds its part. */
  interface TruewardGlobal {
    /** Commands that wait for the ads of the tag: an array until there are any, this object afterwards. */
    queue: Command[] | { push(...commands: Command[]): void };
  }
  /** The one global of the script tags. A page may make it before any of them has loaded, with a `queue`. */
  var Trueward: TruewardGlobal;
}

/**
 * Adds what a file brings to the global. What is there already stays: a second copy of a file must not
 * replace a class, since games made with the first one would not know it.
 */
export function define(members: Partial<TruewardGlobal>): TruewardGlobal {
  const known = globalThis.Trueward as TruewardGlobal | undefined;
  // An element with the id `Trueward` is a global of that name, too.
  const own: Partial<TruewardGlobal> = known?.queue ? known : { queue: [] };
  const all = Object.assign(own, { ...members, ...own });
  return (globalThis.Trueward = all as TruewardGlobal);
}
