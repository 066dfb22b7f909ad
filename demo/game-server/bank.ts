import type { DecisionRewardedEvent } from 'trueward/server';
import type { Journal } from './journal.ts';

/** The coins credited to a player for one ad. */
export interface Credit {
  eventId: string;
  decisionId: string;
  player: string;
  placement: string;
  amount: number;
  /** ISO 8601. */
  creditedAt: string;
}

/** A player's account, with the latest credit first. */
export interface Account {
  coins: number;
  credits: Credit[];
}

/** The only code that credits coins. */
export interface Bank {
  /** Credits a reward unless its decision or event has already been credited. Resolves when the credit is on disk. */
  credit(event: DecisionRewardedEvent): Promise<'credited' | 'already_credited'>;
  account(player: string): Account;
}

export interface BankDeps {
  journal: Journal<Credit>;
  now(): Date;
  onCredit(player: string): void;
}

export function createBank({ journal, now, onCredit }: BankDeps): Bank {
  const credits: Credit[] = [];
  const creditedIds = new Set<string>();
  let lastCredit: Promise<unknown> = Promise.resolve();

  const addCredit = (credit: Credit) => {
    credits.push(credit);
    creditedIds.add(credit.eventId).add(credit.decisionId);
  };
  journal.entries.forEach(addCredit);

  async function creditOnce({ id, data }: DecisionRewardedEvent) {
    if (creditedIds.has(id) || creditedIds.has(data.decision_id))
      return 'already_credited' as const;
    const credit: Credit = {
      eventId: id,
      decisionId: data.decision_id,
      player: data.user_ref,
      placement: data.placement,
      amount: data.reward.amount,
      creditedAt: now().toISOString(),
    };
    await journal.append(credit);
    addCredit(credit);
    onCredit(credit.player);
    return 'credited' as const;
  }

  return {
    // Credits are processed one at a time, because two deliveries of the same event may arrive concurrently.
    credit(event) {
      const result = lastCredit.then(() => creditOnce(event));
      lastCredit = result.catch(() => {
        // The caller receives this error through `result`. It must not block the next credit.
      });
      return result;
    },
    account(player) {
      const playerCredits = credits.filter((credit) => credit.player === player).reverse();
      return {
        coins: playerCredits.reduce((sum, { amount }) => sum + amount, 0),
        credits: playerCredits,
      };
    },
  };
}
