import type { Availability, Reward } from '../outcome.ts';

/**
 * The state of a rewarded-ad button.
 *
 * - `ready`: an ad is loaded.
 * - `loading`: an ad is being requested.
 * - `showing`: an ad is on the screen.
 * - `cooldown`: no ad is available until a known time.
 * - `unavailable`: no ad is available, and it is unknown when there will be one.
 */
export type ButtonState = 'ready' | 'loading' | 'showing' | 'cooldown' | 'unavailable';

export interface ButtonView {
  state: ButtonState;
  /** Whole seconds until the cooldown ends. 0 in every other state. */
  secondsLeft: number;
  /** What the ad earns, once it is loaded. */
  reward?: Reward;
}

/**
 * How long to wait after a no-fill before requesting another ad, in milliseconds. Matches `noFillMs` in `decisions.ts`.
 */
const retryDelayMs = 30_000;

/** Returns the view of a button that is neither loading nor showing an ad. */
export function idleView(availability: Availability, now: number): ButtonView {
  const { available, reward } = availability;
  if (available) return { state: 'ready', secondsLeft: 0, ...(reward && { reward }) };
  const secondsLeft = Math.ceil(((availability.retryAt?.getTime() ?? 0) - now) / 1000);
  return secondsLeft > 0
    ? { state: 'cooldown', secondsLeft }
    : { state: 'unavailable', secondsLeft: 0 };
}

/**
 * Returns the time until an idle button's next update, in milliseconds. During a cooldown, the button updates every
 * second. Returns `undefined` if the button is ready or its placement does not exist.
 */
export function nextUpdateMs(availability: Availability, now: number): number | undefined {
  if (availability.available || availability.outcome === 'invalid_placement') return undefined;
  const remainingMs = (availability.retryAt?.getTime() ?? 0) - now;
  return remainingMs > 0 ? remainingMs % 1000 || 1000 : retryDelayMs;
}

/** A rewarded-ad button’s labels, by state. `{time}` is replaced by the remaining minutes and seconds. */
export type ButtonStrings = Record<ButtonState, string>;

/** The English labels. They are used until the labels in the button’s language have loaded. */
export const english: ButtonStrings = {
  ready: 'Watch an ad',
  loading: 'Loading…',
  showing: 'Ad',
  cooldown: 'Next ad in {time}',
  unavailable: 'No ad available',
};

/**
 * Returns a button's default label, such as `Watch an ad (+50 coins)`. During a cooldown, it includes the remaining time,
 * such as `1:05`.
 */
export function formatLabel(view: ButtonView, strings: ButtonStrings): string {
  const { reward, secondsLeft, state } = view;
  const seconds = String(secondsLeft % 60).padStart(2, '0');
  const text = strings[state].replace('{time}', `${Math.floor(secondsLeft / 60)}:${seconds}`);
  if (!reward) return text;
  // The reward's name is the game's, whatever the language of the label, which may be written from right to left.
  return `${text} (\u2068+${reward.amount} ${reward.type.replaceAll('_', ' ')}\u2069)`;
}
