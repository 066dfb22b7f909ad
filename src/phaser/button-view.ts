import type { Availability } from '../outcome.ts';

/**
 * What a button for a rewarded ad shows.
 *
 * - `ready`: an ad is loaded.
 * - `loading`: one is being asked for.
 * - `showing`: an ad is on the screen.
 * - `cooldown`: there is none before a time that is known.
 * - `unavailable`: there is none, and nobody said until when.
 */
export type ButtonState = 'ready' | 'loading' | 'showing' | 'cooldown' | 'unavailable';

export interface ButtonView {
  state: ButtonState;
  /** Whole seconds until the cooldown is over; 0 in every other state. */
  secondsLeft: number;
}

/** After this, in milliseconds, a placement without an ad is asked again, as the SDK itself does. */
const askAgainMs = 30_000;

/** The view of a button that neither loads nor shows. */
export function restingView(availability: Availability, now: number): ButtonView {
  if (availability.available) return { state: 'ready', secondsLeft: 0 };
  const secondsLeft = Math.ceil(((availability.retryAt?.getTime() ?? 0) - now) / 1000);
  return secondsLeft > 0
    ? { state: 'cooldown', secondsLeft }
    : { state: 'unavailable', secondsLeft: 0 };
}

/**
 * When a resting button has to look again, in milliseconds: at the next whole second of a cooldown,
 * never when it is ready, and never for a placement that does not exist.
 */
export function lookAgainMs(availability: Availability, now: number): number | undefined {
  if (availability.available || availability.reason === 'invalid_placement') return undefined;
  const leftMs = (availability.retryAt?.getTime() ?? 0) - now;
  return leftMs > 0 ? leftMs % 1000 || 1000 : askAgainMs;
}

/** The texts of a rewarded button by its state; `{time}` is minutes and seconds. */
export type ButtonStrings = Record<ButtonState, string>;

/** English texts, used until those of the button’s language have loaded. */
export const english: ButtonStrings = {
  ready: 'Watch an ad',
  loading: 'Loading …',
  showing: 'Ad',
  cooldown: 'Next ad in {time}',
  unavailable: 'No ad now',
};

/** The text of a button whose game gave none: `1:05` in a cooldown. */
export function labelOf({ state, secondsLeft }: ButtonView, strings: ButtonStrings): string {
  const seconds = String(secondsLeft % 60).padStart(2, '0');
  return strings[state].replace('{time}', `${Math.floor(secondsLeft / 60)}:${seconds}`);
}
