import type { EventDraft } from '../resource/change-events.ts';
import type { Entry } from './wallet.ts';

/** An entry of a player, for those who subscribe. */
export interface PlayerEntry {
  /** The player's pseudonym. */
  viewer: string;
  playerRef: string;
  entry: Entry;
  /** For a transfer: the guest player whose wallet was moved. */
  from?: string;
}

/** Drafts the webhook event for a change to a wallet. */
export function draftWalletEvent({ viewer, playerRef, entry, from }: PlayerEntry): EventDraft {
  const { id, kind, type, delta, durationS, reason, balance, version } = entry;
  const change = {
    entry_id: id,
    user_ref: playerRef,
    type,
    ...(reason === undefined ? {} : { reason }),
    balance,
    version,
  };
  if (kind === 'spend')
    return { type: 'wallet.spent', data: { ...change, amount: -delta }, viewer };
  return {
    type: 'wallet.credited',
    data: {
      ...change,
      kind,
      ...(durationS === undefined || delta > 0 ? { amount: delta } : {}),
      ...(durationS === undefined ? {} : { duration_s: durationS }),
      ...(from === undefined ? {} : { from_user_ref: from }),
    },
    viewer,
  };
}
