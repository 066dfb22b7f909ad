import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PanelSite, startPanelSite } from './panel-site.ts';

let site: PanelSite;
beforeAll(async () => {
  site = await startPanelSite();
});
afterAll(() => site.stop());

test('a decision is looked up by its id: why, what happened, and what became of its reward', async () => {
  const { game } = site;
  const decision = await game.decideImage('player-7');
  await game.begin(decision);
  await game.report(game.event(decision, 'complete', { watched_ms: 5_200 }));

  const page = await site.open('/decisions');
  await page.getByLabel('Id of a decision').fill(` ${decision.id} `);
  await page.getByRole('button', { name: 'Open' }).click();
  const card = (name: string) => page.getByRole('region', { name });
  await card('What was decided').getByRole('row', { name: 'Harbour chosen' }).waitFor();
  expect(await card('The reward').textContent()).toMatch(/denied.*impossible timing/);
  expect(await card('What happened').getByRole('listitem').allTextContents()).toEqual([
    expect.stringContaining('decided'),
    expect.stringContaining('start'),
    expect.stringContaining('complete'),
  ]);

  await page.goto(`${site.url}/panel/#/decisions/dec_00000000000000000000000000`);
  await page
    .getByRole('alert')
    .filter({ hasText: /no decision/i })
    .waitFor();
});

test('the live tail shows what a game does, as it does it', async () => {
  const page = await site.open('/live-tail');
  await page.getByText('Listening').waitFor();
  const decision = await site.game.decideImage('player-8');
  await site.game.begin(decision);
  const lines = page.getByRole('list', { name: 'What happened' }).getByRole('listitem');
  await lines.nth(1).waitFor();
  expect(await lines.allTextContents()).toEqual([
    expect.stringMatching(new RegExp(`start.*${decision.id}`)),
    expect.stringMatching(new RegExp(`decision filled.*${decision.id}.*revive`)),
  ]);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Paused').waitFor();
});

test('the overview sums up, compares, says why there was no ad, and hands over a CSV', async () => {
  await site.game.decide({ placement: 'level-end', simulate: 'no_fill' });
  const page = await site.open('/');
  const top = page.getByRole('region', { name: 'Top placements' });
  await expect
    .poll(async () => {
      await page.getByRole('button', { name: 'Refresh' }).click();
      return top.getByRole('row').allTextContents();
    })
    .toContainEqual(expect.stringMatching(/^level-end1/));
  expect(await page.getByRole('region', { name: 'Reasons for no ad' }).textContent()).toContain(
    'no candidates',
  );
  await page.locator('.recharts-line-curve').first().waitFor();
  await page.getByLabel('Compare with the time before').check();
  await page.getByText('before: 0').first().waitFor();
  await page.locator('[stroke-dasharray="4 4"]').first().waitFor();

  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'CSV' }).click();
  const file = await (await download).path();
  expect((await readFile(file, 'utf8')).split('\r\n')[0]).toMatch(/^period,placement,requests,/);
});

test('the audit log says who changed what, and what it was before', async () => {
  const { body } = await site.owner.send<{ data: { id: string; name: string }[] }>(
    'GET',
    '/v1/placements',
  );
  const lobby = body.data.find(({ name }) => name === 'lobby');
  await site.owner.send('PATCH', `/v1/placements/${lobby?.id}`, { cooldown_s: 90 });
  const page = await site.open('/audit-entries');
  const row = page.getByRole('row').filter({ hasText: lobby?.id ?? '' });
  await row.getByText('cooldown s').click();
  expect(await row.locator('del').textContent()).toBe('0');
  expect(await row.locator('ins').textContent()).toBe('90');
  expect(await row.textContent()).toContain('owner@example.com');
});
