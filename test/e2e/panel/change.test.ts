import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright';
import { expect, inject } from 'vitest';
import type { Advertiser, Source, Webhook } from '../../../protocol/wire.ts';
import { findByName } from './objects.ts';
import { type PanelSite, startPanelSite } from './panel-site.ts';
import { it as test } from '../worker.ts';

let site: PanelSite;
let receiver: Server;
/** The status that the receiver responds with, and the number of requests that it has received. */
let [responseStatus, requests] = [410, 0];
test.beforeAll(async ({ browser }) => {
  site = await startPanelSite(browser);
  receiver = createServer((request, response) => {
    requests += 1;
    request.resume();
    response.writeHead(responseStatus).end(responseStatus === 200 ? 'Taken.' : 'Moved away.');
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
});
test.afterAll(async () => {
  receiver.close();
  receiver.closeAllConnections();
  await site.stop();
});

const openPage = (page: Page, path: string) => page.goto(`${site.url}/panel/#${path}`);
const save = (page: Page) => page.getByRole('button', { name: 'Save' }).click();
async function archive(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Archive' }).click();
  const question = page.getByRole('dialog', { name: /^Archive this (advertiser|source)\?$/ });
  await question.getByRole('button', { name: 'Confirm' }).click();
}

test.runIf(inject('full'))('creates, edits and archives an advertiser and a source', async () => {
  const page = await site.open('/advertisers/create');
  await page.getByRole('textbox', { name: 'Name' }).fill('Orchard');
  await page.getByRole('textbox', { name: 'Domain' }).fill('https://orchard.example/');
  await save(page);
  // Validation errors appear next to their fields.
  await page.getByText('Must be a host name').first().waitFor();
  await page.getByRole('textbox', { name: 'Domain' }).fill('orchard.example');
  await save(page);
  await page.getByRole('link', { name: 'Orchard' }).click();
  await page.getByRole('textbox', { name: 'Domain' }).fill('orchard.test');
  await save(page);
  await page.getByRole('cell', { name: 'orchard.test' }).waitFor();
  expect(await findByName<Advertiser>(site.owner, '/v1/advertisers', 'Orchard')).toMatchObject({
    domain: 'orchard.test',
  });
  await page.getByRole('link', { name: 'Orchard' }).click();
  await archive(page);
  await page.getByRole('link', { name: 'Orchard' }).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Harbour' }).click();
  await archive(page);
  await page.getByText('still refers to this object').waitFor();
  expect(await findByName(site.owner, '/v1/advertisers', 'Harbour')).toBeDefined();

  await openPage(page, '/sources/create');
  await page.getByRole('textbox', { name: 'Name' }).fill('Partner');
  await page.getByRole('combobox', { name: 'Kind' }).click();
  await page.getByRole('option', { name: 'vast' }).click();
  await page.getByLabel('VAST tag URL').fill('https://partner.example/tag');
  await page.getByLabel('Value per 1,000 impressions').fill('2.5');
  await page.getByRole('button', { name: 'Advanced settings' }).click();
  await page.getByLabel('Request headers').fill('X-Account: 77');
  await save(page);
  await page.getByRole('link', { name: 'Partner' }).click();
  await page.getByRole('combobox', { name: 'Status' }).click();
  await page.getByRole('option', { name: 'paused' }).click();
  await save(page);
  const row = page.getByRole('row').filter({ hasText: 'Partner' });
  await row.getByText('paused').waitFor();
  expect(await findByName<Source>(site.owner, '/v1/sources', 'Partner')).toMatchObject({
    kind: 'vast',
    status: 'paused',
    tag_url: 'https://partner.example/tag',
    cpm_micros: 2_500_000,
    request_header_names: ['X-Account'],
  });
  await row.getByRole('link').click();
  await archive(page);
  await row.waitFor({ state: 'detached' });
});

test('rejects a concurrent edit with a message, without overwriting anything', async () => {
  const { body } = await site.owner.send<Advertiser>('POST', '/v1/advertisers', {
    name: 'Mill',
    domain: 'mill.example',
  });
  const path = `/v1/advertisers/${body.id}`;
  const changeElsewhere = (domain: string) => site.owner.send('PATCH', path, { domain });
  const read = async () => (await site.owner.send<Advertiser>('GET', path)).body;
  const page = await site.open(`/advertisers/${body.id}`);
  await page.getByRole('textbox', { name: 'Name' }).fill('Windmill');
  await changeElsewhere('windmill.example');
  await save(page);
  await page.getByRole('alert').filter({ hasText: 'someone else changed this' }).waitFor();
  expect(await read()).toMatchObject({ name: 'Mill', domain: 'windmill.example' });
  // Refreshing keeps the unsaved name and loads the other user's change to the domain.
  await page.getByRole('button', { name: 'Refresh' }).click();
  await expect
    .poll(() => page.getByRole('textbox', { name: 'Domain' }).inputValue())
    .toBe('windmill.example');
  expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Windmill');
  await save(page);
  await page.getByRole('link', { name: 'Windmill' }).waitFor();
  expect(await read()).toMatchObject({ name: 'Windmill', domain: 'windmill.example' });
});

test('the events that a failing webhook missed can be resent', async () => {
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  const { body: webhook } = await site.owner.send<Webhook>('POST', '/v1/webhooks', {
    url,
    events: ['kill_switch.changed'],
  });
  const page = await site.open(`/webhooks/${webhook.id}`);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const health = page.getByRole('region', { name: 'Health' });
  await expect
    .poll(async () => {
      await page.getByRole('button', { name: 'Refresh' }).first().click();
      return health.textContent();
    })
    .toContain('Disabled: the endpoint responded with 410 Gone.');
  const deliveries = page.getByRole('region', { name: 'Deliveries' });
  await deliveries.getByText('1 attempt').click();
  await deliveries.getByText('Moved away.').waitFor();
  await deliveries.getByRole('button', { name: 'Redeliver' }).click();
  await page.getByText('enable it first').waitFor();

  await openPage(page, '/');
  const failedDeliveries = page.getByRole('region', { name: 'Failed deliveries' });
  await failedDeliveries.getByText('last: 410').waitFor();
  await failedDeliveries.getByRole('link', { name: url }).first().click();
  // The webhook missed an event while it was disabled.
  await site.owner.send('POST', '/v1/kill-switches', {
    scope: 'placement',
    target_id: 'lobby',
    state: 'on',
    reason: 'a test',
  });
  responseStatus = 200;
  await page.getByRole('combobox', { name: 'Status' }).click();
  await page.getByRole('option', { name: 'enabled' }).click();
  await save(page);
  await page.getByText('Webhook saved').waitFor();
  await page.getByRole('button', { name: 'Resend events' }).click();
  await page.getByText('2 events queued for redelivery.').waitFor();
  await expect.poll(() => requests).toBe(3);
  await expect
    .poll(async () => {
      await page.getByRole('button', { name: 'Refresh' }).first().click();
      return health.textContent();
    })
    .toContain('Healthy. Nothing is queued.');
  for (const [state, count] of [
    ['delivered', 2],
    ['failed', 1],
  ] as const)
    await expect.poll(() => deliveries.getByText(state, { exact: true }).count()).toBe(count);
  await page.getByRole('button', { name: 'Resend events' }).click();
  await page.getByText('No such events.').waitFor();
  await deliveries.getByLabel('State').click();
  await page.getByRole('option', { name: 'failed' }).click();
  await deliveries.getByText('1 attempt').click();
  await deliveries.getByRole('button', { name: 'Redeliver' }).click();
  await expect.poll(() => requests).toBe(4);
});

test('events of one state are resent to all webhooks at once', async () => {
  responseStatus = 200;
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const events = ['creative.review_updated'];
  const ids: string[] = [];
  for (const path of ['first', 'second'])
    ids.push(
      (await site.owner.send<Webhook>('POST', '/v1/webhooks', { url: `${url}/${path}`, events }))
        .body.id,
    );
  for (const id of ids) await site.owner.send('POST', `/v1/webhooks/${id}/test`, {});
  const countDelivered = async (): Promise<number> => {
    const lists = ids.map((id) =>
      site.owner.send<{ data: object[] }>('GET', `/v1/webhooks/${id}/deliveries?state=delivered`),
    );
    return (await Promise.all(lists)).flatMap(({ body }) => body.data).length;
  };
  await expect.poll(countDelivered).toBe(2);
  const page = await site.open('/webhooks');
  const card = page.getByRole('region', { name: 'Resend events' });
  const choose = async (label: string, option: string): Promise<void> => {
    await card.getByLabel(label, { exact: true }).click();
    await page.getByRole('option', { name: option, exact: true }).click();
  };
  await choose('Event', 'Creative reviewed');
  await choose('Delivery', 'Failed');
  await card.getByRole('button', { name: 'Resend' }).click();
  await expect.poll(() => card.getByText('No such events.').count()).toBe(2);
  await choose('Delivery', 'Delivered');
  await card.getByRole('button', { name: 'Resend' }).click();
  await card.getByText(`${url}/first: 1 event queued for redelivery.`).waitFor();
  await card.getByText(`${url}/second: 1 event queued for redelivery.`).waitFor();
  await expect.poll(countDelivered).toBe(4);
});
