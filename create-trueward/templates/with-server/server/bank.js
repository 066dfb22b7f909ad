import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * The only code that credits coins. Credits are stored in an append-only file of JSON lines. If you use a database,
 * make `decisionId` a unique column.
 */
export async function openBank(file) {
  await mkdir(dirname(file), { recursive: true });
  const text = existsSync(file) ? await readFile(file, 'utf8') : '';
  /** @type {Map<string, { player: string, amount: number }>} */
  const credits = new Map();
  for (const line of text.split('\n').filter(Boolean)) {
    const { decisionId, ...credit } = JSON.parse(line);
    credits.set(decisionId, credit);
  }
  let lastCredit = Promise.resolve();

  async function creditOnce({ decision_id: decisionId, reward, user_ref: player }) {
    // The service delivers at least once: the same reward may arrive again.
    if (credits.has(decisionId)) return;
    const credit = { player, amount: reward.amount };
    await appendFile(file, `${JSON.stringify({ decisionId, ...credit })}\n`, { flush: true });
    credits.set(decisionId, credit);
  }

  return {
    /** Resolves when the reward is on disk. Do not acknowledge the webhook before that. */
    credit(eventData) {
      // Credits are processed one at a time, because two deliveries may arrive concurrently.
      const result = lastCredit.then(() => creditOnce(eventData));
      lastCredit = result.catch(() => {});
      return result;
    },
    countCoins(player) {
      return [...credits.values()]
        .filter((credit) => credit.player === player)
        .reduce((sum, { amount }) => sum + amount, 0);
    },
  };
}
