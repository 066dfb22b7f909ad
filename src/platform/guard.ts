import { native } from './native.ts';

/** Reports an error to the console and `window.onerror` without interrupting the caller. */
export function reportUncaught(error: unknown): void {
  native.queueMicrotask(() => {
    throw error;
  });
}

/** Calls one of the game's callbacks. Errors are reported with {@link reportUncaught} rather than thrown. */
export function callGuarded(callback: (() => void) | undefined): void {
  try {
    callback?.();
  } catch (error) {
    reportUncaught(error);
  }
}

/** Whether an object has the property itself. Some pages add properties to every object. */
export const has = <T extends object, Name extends PropertyKey>(
  value: T,
  name: Name,
): value is Extract<T, Record<Name, unknown>> => Object.hasOwn(value, name);

/** Copies an object's own properties to an object without a prototype. Anything else has no properties. */
export const copyOwn = (value: unknown): Record<string, unknown> =>
  Object.assign(Object.create(null) as Record<string, unknown>, value);

/**
 * Returns a list of what a set, a map or an iterator contains. On pages with MooTools or Prototype, `Array.from` knows only
 * lists.
 */
export function toList<Item>(items: Iterable<Item>): Item[] {
  const list: Item[] = [];
  for (const item of items) list.push(item);
  return list;
}

/**
 * Returns the result of `work`, or undefined if `work` throws. A browser API may be missing. It may also fail because
 * cookies are blocked, the frame is sandboxed, or a permissions policy forbids its use.
 */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Converts anything to text. A value from a page or from another SDK may refuse to be converted. */
export const toText = (value: unknown): string =>
  attempt(() => String(value as string)) ?? typeof value;

/** Returns the message of anything that was thrown. */
export const messageOf = (error: unknown): string =>
  toText(attempt(() => (error as Error | null)?.message) ?? error);
