/** What a player has of one type. */
export interface Holding {
  type: string;
  balance: number;
  /** When a timed reward ends, in Unix milliseconds. */
  activeUntilMs: number | null;
  /** The version of the last entry of this type. */
  version: number;
}

/** A change to a player's wallet. */
export interface WalletChange {
  /** The id of the entry, which is unique for the player. */
  id: string;
  kind: 'reward' | 'spend' | 'grant' | 'transfer';
  type: string;
  /** How much to add to the balance. Negative for a spend, and for what is transferred to another player. */
  delta: number;
  /** How long the player has the reward, instead of an amount. Negative if the time is transferred: it then ends. */
  durationS?: number | undefined;
  /** How far ahead the time may be extended. */
  maxActiveS?: number | undefined;
  reason?: string | undefined;
}

/** An applied change: the entry, and what the player then has of its type. */
export interface Entry extends WalletChange {
  balance: number;
  version: number;
}

/** The largest balance. Every JSON parser reads whole numbers up to it exactly. */
export const maxBalance = Number.MAX_SAFE_INTEGER;
/** How far ahead grants can extend a timed reward, in seconds: a year. */
export const maxGrantedS = 31_536_000;
/** How far ahead timed rewards can be extended by default, in seconds. */
const defaultMaxActiveS = 604_800;

/** Returns the number of changes to a wallet so far. */
export const readVersion = (holdings: Iterable<Holding>): number =>
  Math.max(0, ...Array.from(holdings, ({ version }) => version));

/**
 * Applies a change to what a player has. Returns undefined if the balance is not sufficient. A reward never fails: what
 * exceeds the largest balance, or how far ahead time may be extended, is not credited. The entry says what was.
 */
export function applyChange(
  holdings: readonly Holding[],
  change: WalletChange,
  nowMs: number,
): { entry: Entry; holding: Holding } | undefined {
  const held = holdings.find(({ type }) => type === change.type);
  const before = held?.balance ?? 0;
  const delta = Math.min(change.delta, maxBalance - before);
  const balance = before + delta;
  if (balance < 0) return undefined;
  const version = readVersion(holdings) + 1;
  const time = extend(held?.activeUntilMs ?? null, change, nowMs);
  return {
    entry: { ...change, delta, durationS: time.durationS, balance, version },
    holding: {
      type: change.type,
      balance,
      activeUntilMs: time.untilMs,
      version,
    },
  };
}

/** Returns when a timed reward ends after a change, and by how many seconds the change has moved that. */
function extend(
  untilMs: number | null,
  { durationS, maxActiveS = defaultMaxActiveS }: WalletChange,
  nowMs: number,
): { untilMs: number | null; durationS: number | undefined } {
  if (durationS === undefined) return { untilMs, durationS };
  if (durationS < 0) return { untilMs: null, durationS };
  const from = Math.max(untilMs ?? nowMs, nowMs);
  const roomS = Math.floor((nowMs - from) / 1_000 + maxActiveS);
  // A lower limit never takes away what the player already has.
  const appliedS = Math.max(0, Math.min(durationS, roomS));
  return { untilMs: from + appliedS * 1_000, durationS: appliedS };
}
