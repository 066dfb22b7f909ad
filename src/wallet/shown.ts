import type { Wallet as WireWallet } from '../../protocol/wire.ts';
import { has } from '../platform/guard.ts';

/** What this device last read of a player’s wallet. */
export interface Shown {
  ref: string;
  balances: Record<string, number>;
  /** The ends of timed rewards by type, in milliseconds of the service’s clock. */
  ends: Record<string, number>;
  /** How far the service’s clock is ahead of this device’s, in milliseconds. */
  offsetMs: number;
  /** When the wallet was read, by this device’s clock. Older releases did not store it. */
  readAtMs?: number;
  version: number;
}

export const startShown = (ref: string): Shown => ({
  ref,
  balances: {},
  ends: {},
  offsetMs: 0,
  version: -1,
});

/** @param nowMs - The device’s time at which the service answered. */
export const show = (ref: string, wallet: WireWallet, nowMs: number): Shown => ({
  ref,
  balances: wallet.balances,
  ends: Object.fromEntries(
    wallet.entitlements.map(({ type, active_until: end }) => [type, Date.parse(end)]),
  ),
  offsetMs: Date.parse(wallet.now) - nowMs,
  readAtMs: nowMs,
  version: wallet.version,
});

/** Whether a stored value is a wallet that this release can read. */
export const isShown = (value: unknown): value is Shown => {
  const shown = value as Partial<Shown> | undefined;
  return (
    typeof shown?.ref === 'string' &&
    shown.balances instanceof Object &&
    shown.ends instanceof Object &&
    Number.isFinite(shown.offsetMs) &&
    Number.isFinite(shown.version)
  );
};

const findNumber = (values: Record<string, number>, name: string): number => {
  const value: unknown = has(values, name) ? values[name] : 0;
  return typeof value === 'number' ? value : 0;
};

export const balanceOf = ({ balances }: Shown, type: string): number => findNumber(balances, type);

/** Returns when a timed reward ends, or undefined if it has ended by the service’s clock. */
export const endOf = ({ ends, offsetMs }: Shown, type: string, nowMs: number): Date | undefined => {
  const end = findNumber(ends, type);
  return end > nowMs + offsetMs ? new Date(end) : undefined;
};

export const readAt = ({ readAtMs }: Shown): Date | undefined =>
  typeof readAtMs === 'number' ? new Date(readAtMs) : undefined;

/** Whether the player has nothing. */
export const isEmpty = (shown: Shown, nowMs: number): boolean =>
  Object.keys(shown.balances).every((type) => balanceOf(shown, type) === 0) &&
  Object.keys(shown.ends).every((type) => !endOf(shown, type, nowMs));
