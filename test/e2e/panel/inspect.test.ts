import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ApiKey } from '../../../protocol/wire.ts';
import { verifyWebhook } from 'trueward/server';
import { expect, inject } from 'vitest';
import { createDeferred } from '../../support/deferred.ts';
import { type PanelSite, startPanelSite } from './panel-site.ts';
import { it as test } from '../worker.ts';

interface ReceivedRequest {
  body: string;
  headers: Record<string, string>;
}

let site: PanelSite;
let receiver: Server;
const receivedRequests: ReceivedRequest[] = [];
test.beforeAll(async ({ browser }) => {
  site = await startPanelSite(browser);
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
      receivedRequests.push({
        body: Buffer.concat(chunks).toString(),
        headers: Object.fromEntries(headers) as Record<string, string>,
      });
      response.writeHead(200).end('Received, thank you.');
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
});
test.afterAll(async () => {
  receiver.close();
  receiver.closeAllConnections();
  await site.stop();
});

test('an owner can create, test, inspect and redeliver a webhook', async () => {
  const page = await site.open('/webhooks/create');
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  await page.getByLabel('Endpoint URL').fill(url);
  await page.getByLabel('Reward earned').check();
  await page.getByRole('button', { name: 'Save' }).click();
  const secretDialog = page.getByRole('dialog', { name: 'Webhook secret' });
  const secret = await secretDialog.getByRole('group').textContent();
  expect(secret).toMatch(/^whsec_/);
  await secretDialog.getByRole('button', { name: 'Done' }).click();

  await page.getByRole('link', { name: url }).click();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect.poll(() => receivedRequests.length).toBe(1);
  const { body, headers } = receivedRequests[0] ?? { body: '', headers: {} };
  expect(await verifyWebhook(body, headers, secret ?? '')).toMatchObject({
    type: 'decision.rewarded',
  });

  const deliveries = page.getByRole('region', { name: 'Deliveries' });
  // There is no need to reload the page, because it refetches deliveries periodically.
  await deliveries.getByText('1 attempt').click();
  await deliveries.getByText('Received, thank you.').waitFor();
  await deliveries.getByRole('button', { name: 'Redeliver' }).click();
  await expect.poll(() => receivedRequests.length).toBe(2);

  await page.getByRole('button', { name: 'Rotate secret' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
  const newSecret = page.getByRole('dialog', { name: 'New webhook secret' });
  expect(await newSecret.getByRole('group').textContent()).not.toBe(secret);
  await newSecret.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect.poll(() => receivedRequests.length).toBe(3);
  // During the overlap period, webhooks can still be verified with the old secret.
  const thirdRequest = receivedRequests[2] ?? { body: '', headers: {} };
  await verifyWebhook(thirdRequest.body, thirdRequest.headers, secret ?? '');
});

test('an owner can create, restrict, roll and revoke a key', async () => {
  const page = await site.open('/keys/create');
  await page.getByRole('combobox', { name: 'Kind' }).click();
  await page.getByRole('option', { name: 'Publishable' }).click();
  await page.getByLabel('Allowed origins').fill('https://game.example');
  await page.keyboard.press('Enter');
  await page.getByLabel('Requests per second').fill('50');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Set both or neither').waitFor();
  await page.getByLabel('Burst').fill('100');
  await page.getByRole('button', { name: 'Save' }).click();
  const secretDialog = page.getByRole('dialog', { name: 'New API key' });
  const text = (await secretDialog.getByRole('group').textContent()) ?? '';
  expect(text).toMatch(/^pk_sandbox_/);
  await secretDialog.getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('row').filter({ hasText: 'https://game.example' });
  await row.waitFor();
  // Unlike a secret key, a publishable key can be looked up again.
  await row.getByRole('group', { name: 'Publishable key' }).getByText(text).waitFor();

  await row.filter({ hasText: '50 per second, burst 100' }).waitFor();
  // The form waits for the key's revision, which the list doesn't have, and the change names it.
  const answer = createDeferred();
  await page.route(/\/keys\/key_\w+$/, async (route) => {
    if (route.request().method() === 'GET') await answer.promise;
    await route.continue();
  });
  const changed = page.waitForRequest((request) => request.method() === 'PATCH');
  await row.getByRole('link', { name: 'Edit' }).click();
  await page.waitForURL(/keys\/key_/);
  await row.waitFor({ state: 'detached' });
  expect(await page.getByLabel('Requests per second').count()).toBe(0);
  answer.resolve();
  await page.getByLabel('Requests per second').fill('');
  await page.getByLabel('Burst').fill('');
  await page.getByRole('button', { name: 'Save' }).click();
  await row.filter({ hasText: 'default' }).waitFor();
  expect((await changed).headers()['if-match']).toMatch(/^"/);

  await row.getByRole('button', { name: 'Roll' }).click();
  await page.getByRole('button', { name: 'Create new key' }).click();
  expect(await secretDialog.getByRole('group').textContent()).not.toBe(text);
  await secretDialog.getByRole('button', { name: 'Done' }).click();
  await row.filter({ hasText: 'active until' }).getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await row.filter({ hasText: 'revoked' }).waitFor();
  const { body } = await site.owner.send<{ data: ApiKey[] }>('GET', '/v1/keys');
  const gameKeys = body.data.filter((key) => key.allowed_origins.includes('https://game.example'));
  expect(gameKeys.map((key) => key.revoked_at !== undefined)).toEqual([false, true]);

  await site.game.call('GET', '/v1/placements', site.game.secret, undefined, {
    origin: 'https://leaky.example',
  });
  await page.reload();
  await page.getByText('has leaked: a page on https://leaky.example').waitFor();
});

test('finds a decision by id and shows its reasons, events and reward', async () => {
  const { game } = site;
  const decision = await game.decideImage('player-7');
  await game.reportStart(decision);
  await game.report(game.createEvent(decision, 'complete', { watched_ms: 5_200 }));

  const page = await site.open('/decisions');
  await page.getByLabel('Decision ID').fill(` ${decision.id} `);
  await page.getByRole('button', { name: 'Open' }).click();
  const card = (name: string) => page.getByRole('region', { name });
  await card('Decision').getByRole('row', { name: 'Harbour chosen' }).waitFor();
  expect(await card('Reward').textContent()).toMatch(/denied.*impossible timing/);
  expect(await card('Activity').getByRole('listitem').allTextContents()).toEqual([
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

test('a support person finds all decisions of a player, and what became of them', async () => {
  const { game } = site;
  const decision = await game.decideImage('player 42');
  await game.reportStart(decision);
  await game.report(game.createEvent(decision, 'complete', { watched_ms: 5_200 }));
  await game.decideImage('somebody else');
  const page = await site.open('/decisions');
  const search = page.getByRole('search', { name: 'Decisions' });
  await search.getByLabel('Player').fill('player 42');
  await search.getByRole('button', { name: 'Search' }).click();
  const rows = page.getByRole('group', { name: 'Decisions' }).getByRole('row');
  await page.getByText('somebody else').waitFor({ state: 'detached' });
  await expect.poll(() => rows.count()).toBe(2);
  await rows.filter({ hasText: /player 42.*denied impossible timing/ }).waitFor();
  await search.getByLabel('State').click();
  await page.getByRole('option', { name: 'earned' }).click();
  await search.getByRole('button', { name: 'Search' }).click();
  await page.getByText('No decision matches.').waitFor();
  await search.getByRole('button', { name: 'Clear' }).click();
  await rows.filter({ hasText: decision.id }).getByRole('link', { name: decision.id }).click();
  await page.getByRole('region', { name: 'Ad: Harbour' }).waitFor();
  await page.getByRole('link', { name: 'player 42' }).click();
  await expect.poll(() => rows.count()).toBe(2);
});

test('an ad’s own page shows how often it was seen, and its list shows the last week', async () => {
  const { game } = site;
  const decision = await game.decideImage('player-9');
  await game.reportStart(decision);
  await game.report(game.createImpression(decision), game.createEvent(decision, 'click'));
  const page = await site.open('/house-ads');
  const row = page.getByRole('row').filter({ hasText: 'Harbour' });
  await expect.poll(() => row.getByRole('cell').last().textContent()).toMatch(/^[1-9]/);
  await row.getByRole('link', { name: 'Harbour' }).click();
  const figures = page.getByRole('region', { name: 'Figures' });
  const readFigure = (name: string) =>
    figures.getByRole('term').filter({ hasText: name }).locator('+ dd').textContent();
  await expect.poll(() => readFigure('Verified impressions')).toMatch(/^[1-9]/);
  expect(await readFigure('Clicks')).toMatch(/^[1-9]/);
  await figures.locator('.recharts-line-curve').first().waitFor();
  await figures.getByText('revive').waitFor();
  const download = page.waitForEvent('download');
  await figures.getByRole('button', { name: 'CSV' }).click();
  expect((await download).suggestedFilename()).toMatch(/^trueward-sandbox-had_/);
});

test.runIf(inject('full'))(
  'the list of decisions follows requests and events as they happen',
  async () => {
    const page = await site.open('/decisions');
    const decision = await site.game.decideImage('player-8');
    const row = page.getByRole('row').filter({ hasText: decision.id });
    await row.filter({ hasText: /player-8.*revive.*filled\s*–/ }).waitFor();
    await site.game.reportStart(decision);
    await row.filter({ hasText: 'start' }).waitFor();
  },
);

test.runIf(inject('full'))('the overview shows totals and can be downloaded as CSV', async () => {
  await site.game.decide({ placement: 'level-end', simulate: 'no_fill' });
  const page = await site.open('/');
  const top = page.getByRole('region', { name: 'Top' });
  await expect
    .poll(async () => {
      await page.getByRole('button', { name: 'Refresh' }).click();
      return top.getByRole('row').allTextContents();
    })
    .toContainEqual(expect.stringMatching(/^level-end1/));
  expect(await page.getByRole('region', { name: 'No-fill reasons' }).textContent()).toContain(
    'Create a house ad, or check the status, dates and formats',
  );
  await page.locator('.recharts-line-curve').first().waitFor();
  await page.getByLabel('Compare with previous period').check();
  await page.getByText('previous: 0').first().waitFor();
  await page.locator('[stroke-dasharray="4 4"]').first().waitFor({ state: 'attached' });

  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'CSV' }).click();
  const file = await (await download).path();
  expect((await readFile(file, 'utf8')).split('\r\n')[0]).toMatch(/^period,placement,requests,/);
});

test.runIf(inject('full'))(
  'the audit log shows who changed what, with the old and new values',
  async () => {
    const { body } = await site.owner.send<{ data: { id: string; name: string }[] }>(
      'GET',
      '/v1/placements',
    );
    const lobby = body.data.find(({ name }) => name === 'lobby');
    await site.owner.send('PATCH', `/v1/placements/${lobby?.id}`, { cooldown_s: 90 });
    const page = await site.open('/audit-entries');
    const row = page.getByRole('row').filter({ hasText: lobby?.id ?? '' });
    await row.locator('summary').click();
    expect(await row.locator('del').textContent()).toBe('0 s');
    expect(await row.locator('ins').textContent()).toBe('90 s');
    expect(await row.textContent()).toContain('owner@example.com');
  },
);
