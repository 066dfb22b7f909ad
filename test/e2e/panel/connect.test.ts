import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ApiKey } from '@trueward/protocol/wire';
import { verifyWebhook } from 'trueward/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PanelSite, startPanelSite } from './panel-site.ts';

interface Received {
  body: string;
  headers: Record<string, string>;
}

let site: PanelSite;
let receiver: Server;
const received: Received[] = [];
beforeAll(async () => {
  site = await startPanelSite();
  receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({
      body: Buffer.concat(chunks).toString(),
      headers: Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      ),
    });
    response.writeHead(200).end('Taken, thank you.');
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
});
afterAll(async () => {
  receiver.close();
  receiver.closeAllConnections();
  await site.stop();
});

test('a webhook is made, tested, read with its attempts, sent again, and gets a new secret', async () => {
  const page = await site.open('/webhooks/create');
  const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  await page.getByLabel('Address of your server').fill(address);
  await page.getByLabel('Reward earned').check();
  await page.getByRole('button', { name: 'Save' }).click();
  const shownOnce = page.getByRole('dialog', { name: 'The signing secret' });
  const secret = await shownOnce.getByRole('group').textContent();
  expect(secret).toMatch(/^whsec_/);
  await shownOnce.getByRole('button', { name: 'I have stored it' }).click();

  await page.getByRole('link', { name: address }).click();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect.poll(() => received.length).toBe(1);
  const { body, headers } = received[0] ?? { body: '', headers: {} };
  expect(await verifyWebhook(body, headers, secret ?? '')).toMatchObject({
    type: 'decision.rewarded',
  });

  const deliveries = page.getByRole('region', { name: 'Deliveries' });
  await expect
    .poll(async () => {
      await deliveries.getByRole('button', { name: 'Refresh' }).click();
      return deliveries.getByText('1 attempt').count();
    })
    .toBe(1);
  await deliveries.getByText('1 attempt').click();
  await deliveries.getByText('Taken, thank you.').waitFor();
  await deliveries.getByRole('button', { name: 'Redeliver' }).click();
  await expect.poll(() => received.length).toBe(2);

  await page.getByRole('button', { name: 'New signing secret' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Make it' }).click();
  const newSecret = page.getByRole('dialog', { name: 'The new signing secret' });
  expect(await newSecret.getByRole('group').textContent()).not.toBe(secret);
  await newSecret.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect.poll(() => received.length).toBe(3);
  // Until the overlap ends, the old secret verifies as well.
  const third = received[2] ?? { body: '', headers: {} };
  await verifyWebhook(third.body, third.headers, secret ?? '');
});

test('a key is made, shown once, limited to pages, rolled and revoked; a leaked one is pointed at', async () => {
  const page = await site.open('/keys/create');
  await page.getByLabel('Kind').click();
  await page.getByRole('option', { name: 'Publishable' }).click();
  await page.getByLabel('Pages that may use it').fill('https://game.example');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Save' }).click();
  const shownOnce = page.getByRole('dialog', { name: 'The new key' });
  const text = (await shownOnce.getByRole('group').textContent()) ?? '';
  expect(text).toMatch(/^pk_sandbox_/);
  await shownOnce.getByRole('button', { name: 'I have stored it' }).click();
  const row = page.getByRole('row').filter({ hasText: 'https://game.example' });
  await row.waitFor();
  expect(await page.content()).not.toContain(text);

  await row.getByRole('button', { name: 'Roll' }).click();
  await page.getByRole('button', { name: 'Make the new key' }).click();
  expect(await shownOnce.getByRole('group').textContent()).not.toBe(text);
  await shownOnce.getByRole('button', { name: 'I have stored it' }).click();
  await row.filter({ hasText: 'works until' }).getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await row.filter({ hasText: 'revoked' }).waitFor();
  const { body } = await site.owner.send<{ data: ApiKey[] }>('GET', '/v1/keys');
  const ofGame = body.data.filter((key) => key.allowed_origins.includes('https://game.example'));
  expect(ofGame.map((key) => key.revoked_at !== undefined)).toEqual([false, true]);

  await site.game.call('GET', '/v1/placements', site.game.secret, undefined, {
    origin: 'https://leaky.example',
  });
  await page.reload();
  await page.getByText('has leaked: a page of https://leaky.example').waitFor();
});
