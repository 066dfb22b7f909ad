import type { DecisionRewardedEvent } from 'trueward/server';
import type { Journal } from './journal.ts';

/** Coins that a player got, and for which ad. */
export interface Credit {
  eventId: string;
  decisionId: string;
  player: string;
  placement: string;
  amount: number;
  /** ISO 8601. */
  creditedAt: string;
}

/** A player as the game server knows them; the latest credit comes first. */
export interface Account {
  coins: number;
  credits: Credit[];
}

/** The one place where coins are made. */
export interface Bank {
  /** Credits a reward, unless its decision or event has been credited before; resolves once it is on disk. */
  credit(event: DecisionRewardedEvent): Promise<'credited' | 'already_credited'>;
  account(player: string): Account;
}

export interface BankParts {
  journal: Journal<Credit>;
  now(): Date;
  onCredit(player: string): void;
}

export function createBank({ journal, now, onCredit }: BankParts): Bank {
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
    // One after the other: two deliveries of one event may arrive in the same moment.
    credit(event) {
      const turn = last.then(() => creditOnce(event));
      last = turn.catch(() => {
        // The sender is told by `turn`; the next in line has its own try.
      });
      return turn;
    },
    account(player) {
      const own = credits.filter((credit) => credit.player === player).reverse();
      return { coins: own.reduce((sum, { amount }) => sum + amount, 0), credits: own };
    },
  };
}
