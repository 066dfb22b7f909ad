import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DecisionRewardedEvent } from 'trueward/server';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createBank, type Credit } from '../../../demo/game-server/bank.ts';
import { openJournal } from '../../../demo/game-server/journal.ts';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bank-'));
  file = join(folder, 'deep', 'credits.jsonl');
});
afterEach(() => rm(folder, { recursive: true }));

async function openBank() {
  const journal = await openJournal<Credit>(file);
  const creditedPlayers: string[] = [];
  const bank = createBank({
    journal,
    now: () => new Date(0),
    onCredit: (player) => creditedPlayers.push(player),
  });
  return { bank, creditedPlayers, close: () => journal.close() };
}

const rewardedEvent = (id: string, decisionId: string, amount = 50): DecisionRewardedEvent => ({
  id,
  type: 'decision.rewarded',
  created_at: '1970-01-01T00:00:00.000Z',
  environment: 'sandbox',
  data: {
    decision_id: decisionId,
    placement: 'revive',
    user_ref: 'player-1',
    reward: { type: 'coins', amount },
  },
});

it('credits a decision once, no matter how many times its webhook arrives', async () => {
  const { bank, creditedPlayers, close } = await openBank();
  const results = await Promise.all([
    bank.credit(rewardedEvent('evt_1', 'dec_1')),
    bank.credit(rewardedEvent('evt_1', 'dec_1')),
    bank.credit(rewardedEvent('evt_2', 'dec_1')),
    bank.credit(rewardedEvent('evt_3', 'dec_3', 7)),
  ]);
  expect(results).toEqual(['credited', 'already_credited', 'already_credited', 'credited']);
  expect(bank.account('player-1').coins).toBe(57);
  expect(bank.account('player-2')).toEqual({ coins: 0, credits: [] });
  expect(creditedPlayers).toEqual(['player-1', 'player-1']);
  await close();
});

it('keeps its credits across a restart', async () => {
  const first = await openBank();
  await first.bank.credit(rewardedEvent('evt_1', 'dec_1'));
  await first.close();
  const second = await openBank();
  expect(second.bank.account('player-1').coins).toBe(50);
  expect(await second.bank.credit(rewardedEvent('evt_9', 'dec_1'))).toBe('already_credited');
  await second.close();
});

it('ignores a journal entry that a crash left incomplete', async () => {
  const first = await openBank();
  await first.bank.credit(rewardedEvent('evt_1', 'dec_1'));
  await first.close();
  const contents = await readFile(file, 'utf8');
  await writeFile(file, `${contents}{"eventId":"evt_2","decisi`);
  const second = await openBank();
  expect(second.bank.account('player-1').coins).toBe(50);
  expect(await second.bank.credit(rewardedEvent('evt_2', 'dec_2'))).toBe('credited');
  await second.close();
  const third = await openBank();
  expect(third.bank.account('player-1').coins).toBe(100);
  await third.close();
});

it('does not credit a reward if writing it to the journal fails', async () => {
  let shouldFail = true;
  const journal = {
    entries: [],
    append: () => (shouldFail ? Promise.reject(new Error('disk full')) : Promise.resolve()),
    close: () => Promise.resolve(),
  };
  const bank = createBank({ journal, now: () => new Date(0), onCredit() {} });
  await expect(bank.credit(rewardedEvent('evt_1', 'dec_1'))).rejects.toThrow('disk full');
  expect(bank.account('player-1').coins).toBe(0);
  shouldFail = false;
  expect(await bank.credit(rewardedEvent('evt_1', 'dec_1'))).toBe('credited');
});
