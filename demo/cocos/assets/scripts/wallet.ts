import { sys } from 'cc';

interface ConfirmedReward {
  decisionId: string;
  reward: { type: string; amount: number };
}

/** Credits a reward once; repeated calls have no effect. */
export function addCoinsOnce({ decisionId, reward }: ConfirmedReward): void {
  const wallet: { coins: number; credited: string[] } = JSON.parse(
    sys.localStorage.getItem('wallet') ?? '{"coins":0,"credited":[]}',
  );
  if (wallet.credited.indexOf(decisionId) !== -1) return;
  wallet.credited.push(decisionId);
  wallet.coins += reward.amount;
  sys.localStorage.setItem('wallet', JSON.stringify(wallet));
}
