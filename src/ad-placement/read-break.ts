import { attempt } from '../platform/guard.ts';
import type { AdBreakOptions, BreakType } from './run-break.ts';

const breakTypes: readonly string[] = ['preroll', 'start', 'pause', 'next', 'browse', 'reward'];
const rewardCallbacks = ['beforeReward', 'adDismissed', 'adViewed'] as const;
const callbacks = [
  'beforeAd',
  'afterAd',
  'adBreakDone',
  'beforeReward',
  'adDismissed',
  'adViewed',
] as const;

/** Names from the first versions of Google’s API, which some wrappers still use. */
const oldNames: Partial<Record<(typeof callbacks)[number], string>> = {
  beforeAd: 'beforeBreak',
  afterAd: 'afterBreak',
  adViewed: 'adComplete',
};

/** The properties that only an ad break has. */
const breakKeys: readonly string[] = ['type'].concat(callbacks, Object.values(oldNames));

/** Whether a break’s name stands for a type of breaks, so that it says nothing about its placement. */
export const isTypeName = (name: string): boolean =>
  breakTypes.includes(name) || name === 'interstitial';

/** Whether something that was pushed to `adsbygoogle` is an ad break, perhaps one without a type. */
export const looksLikeBreak = (value: unknown): boolean =>
  breakKeys.some((key) => readProperty(value, key) !== undefined);

/**
 * Returns a property of an object that comes from the game. It may be a method of a class, but not a property that the
 * page has added to every object.
 */
export function readProperty(value: unknown, key: string): unknown {
  const property = attempt(() => (value as Record<string, unknown> | null | undefined)?.[key]);
  return property === (Object.prototype as Record<string, unknown>)[key] ? undefined : property;
}

/** What a game has passed to `adBreak()`. */
export interface ReadBreak {
  /** The part that can be used. */
  options: AdBreakOptions;
  /** Why the break can't show an ad. */
  error: string | undefined;
  /** Properties that have no effect. */
  unknownKeys: string[];
}

/** Reads what a game has passed to `adBreak()`. Never throws. */
export function readBreak(value: unknown): ReadBreak {
  // Any value may be a name, as long as it can be converted to text.
  const name = attempt(() => `${(readProperty(value, 'name') ?? '') as string}`);
  const options: AdBreakOptions = {
    type: readProperty(value, 'type') as BreakType,
    name: name ?? '',
  };
  const errors = describeType(value, options.type);
  for (const callback of callbacks) {
    const given = readProperty(value, callback) ?? readProperty(value, oldNames[callback] ?? '');
    if (typeof given === 'function') options[callback] = given.bind(value) as () => void;
    else if (given) errors.push(`\`${callback}\` must be a function; got ${describe(given)}`);
  }
  const missing = rewardCallbacks.filter((callback) => !options[callback]);
  if (options.type === 'reward' && missing.length > 0)
    errors.push(
      `the type reward needs ${rewardCallbacks.join(', ')}; missing: ${missing.join(', ')}`,
    );
  const keys = attempt(() => Object.keys(Object(value) as object)) ?? [];
  const unknownKeys = keys.filter((key) => key !== 'name' && !breakKeys.includes(key));
  return { options, error: errors[0] && `adBreak(): ${errors[0]}.`, unknownKeys };
}

function describeType(value: unknown, type: string): string[] {
  if (typeof value !== 'object' || value === null)
    return [`the argument must be an object; got ${describe(value)}`];
  if (breakTypes.includes(type)) return [];
  return [`the type must be one of ${breakTypes.join(', ')}; got ${describe(type)}`];
}

const describe = (value: unknown): string =>
  typeof value === 'string'
    ? JSON.stringify(value.slice(0, 40))
    : value === null
      ? 'null'
      : typeof value;
