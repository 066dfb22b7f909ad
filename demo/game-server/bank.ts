import type { DecisionRewardedEvent } from 'trueward/server';
import type { Journal } from './journal.ts';

/** Coins that a player received, and for which ad. */
export interface Credit {
  eventId: string;
  decisionId: string;
  player: string;
  placement: string;
  amount: number;
  /** ISO 8601. */
  creditedAt: string;
}

/** A player's account; the latest credit comes first. */
export interface Account {
  coins: number;
  credits: Credit[];
}

/** The only place where coins are credited. */
export interface Bank {
  /** Credits a reward, unless its decision or event has been credited before; resolves when it is on disk. */
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
  const seen = new Set<string>();
  let last: Promise<unknown> = Promise.resolve();

  const remember = (credit: Credit) => {
    credits.push(credit);
    seen.add(credit.eventId).add(credit.decisionId);
  };
  journal.entries.forEach(remember);

  async function creditOnce({ id, data }: DecisionRewardedEvent) {
    if (seen.has(id) || seen.has(data.decision_id)) return 'already_credited' as const;
    const credit: Credit = {
      eventId: id,
      decisionId: data.decision_id,
      player: data.user_ref,
      placement: data.placement,
      amount: data.reward.amount,
      creditedAt: now().toISOString(),
    };
    await journal.append(credit);
    remember(credit);
    onCredit(credit.player);
    return 'credited' as const;
  }

  return {
    // One at a time, because two deliveries of one event may arrive at the same moment.
    credit(event) {
      const credited = last.then(() => creditOnce(event));
      last = credited.catch(() => {
        // The sender learns of the failure from `turn`; the next credit is independent.
      });
      return credited;
    },
    account(player) {
      const own = credits.filter((credit) => credit.player === player).reverse();
      return { coins: own.reduce((sum, { amount }) => sum + amount, 0), credits: own };
    },
  };
}
