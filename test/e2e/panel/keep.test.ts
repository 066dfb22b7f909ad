import type { Advertiser } from '../../../protocol/wire.ts';
import type { Page } from 'playwright';
import { expect, inject } from 'vitest';
import { password } from '../../../service/test/http/panel-client.ts';
import { it as test } from '../worker.ts';
import { type PanelSite, startPanelSite } from './panel-site.ts';

let site: PanelSite;
test.beforeAll(async ({ browser }) => {
  site = await startPanelSite(browser);
});
test.afterAll(() => site.stop());

const save = (page: Page) => page.getByRole('button', { name: 'Save' }).click();
const countByName = async (name: string) =>
  (await site.owner.send<{ total: number }>('GET', `/panel/api/advertisers?q=${name}`)).body.total;
async function fillAdvertiser(page: Page, name: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Name' }).fill(name);
  await page.getByRole('textbox', { name: 'Domain' }).fill('kept.example');
}

test('a form keeps its input when the session ends', async () => {
  const operator = await site.invite('operator');
  const page = await site.open('/advertisers/create', { as: operator });
  await fillAdvertiser(page, 'Kept');
  await operator.send('DELETE', '/panel/api/session');
  await save(page);
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await dialog.getByRole('textbox', { name: 'Password' }).fill(password);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Kept');
  await save(page);
  await page.getByText('Advertiser created').waitFor();
  expect(await countByName('Kept')).toBe(1);
});

test.runIf(inject('full'))(
  'rejects a change immediately while the browser is offline',
  async () => {
    const page = await site.open('/kill-switches');
    await page.getByRole('button', { name: 'Stop revive' }).click();
    await page.getByLabel('Reason').fill('a test');
    await page.context().setOffline(true);
    await page.getByText('You are offline. This page').waitFor();
    await page.getByRole('button', { name: 'Stop now' }).click();
    await page.getByText('You are offline. Nothing was changed.').waitFor();
    await page.context().setOffline(false);
    await page.getByText('You are offline. This page').waitFor({ state: 'detached' });
    const listResponse = page.waitForResponse((response) =>
      response.url().includes('/panel/api/sources'),
    );
    await page.reload();
    await listResponse;
    const { body } = await site.owner.send<{ data: object[] }>('GET', '/v1/kill-switches');
    expect(body.data).toEqual([]);
  },
);

test('announces an outage and refetches the data afterwards', async () => {
  const page = await site.open('/advertisers');
  await page.getByRole('link', { name: 'Harbour' }).waitFor();
  // The figures load last.
  await page.getByRole('cell', { name: '0', exact: true }).first().waitFor();
  await page.getByRole('progressbar', { name: 'Loading' }).waitFor({ state: 'detached' });
  const apiPath = /\/(v1|panel\/api)\//;
  await page.route(apiPath, (route) => route.abort());
  // Not with the mouse: what began to load just before the outage covers the button for as long as it lasts.
  await page.getByRole('button', { name: 'Refresh' }).press('Enter');
  await page.getByText('The service is not responding. This page').waitFor();
  await page.getByRole('link', { name: 'Harbour' }).waitFor();
  await page.getByRole('menuitem', { name: 'Sources' }).click();
  await page.getByText('Could not load the list.').waitFor();
  expect(await page.getByText('No Sources found').count()).toBe(0);

  // After a reload during the outage, the panel must not ask a signed-in user to sign in.
  await page.reload();
  await page.getByText('The service is not responding. This page').waitFor();
  expect(await page.getByRole('button', { name: 'Sign in' }).count()).toBe(0);
  await page.unroute(apiPath);
  await page.getByRole('link', { name: 'House' }).waitFor();
  await page.getByText('The service is not responding').waitFor({ state: 'detached' });
});

test('leaving an unsaved form asks for confirmation', async () => {
  const page = await site.open('/advertisers/create');
  await fillAdvertiser(page, 'Unsaved');
  const dialogMessages: string[] = [];
  page.on('dialog', (dialog) => {
    dialogMessages.push(dialog.message());
    void dialog.dismiss();
  });
  await page.getByRole('menuitem', { name: 'Sources' }).click();
  await expect
    .poll(() => dialogMessages)
    .toEqual(['Leave without saving? Your changes will be lost.']);
  await page.getByRole('button', { name: 'Live', exact: true }).click();
  const question = page.getByRole('dialog', { name: 'Switch to live?' });
  await question.getByText('unsaved changes will be lost').waitFor();
  await question.getByRole('button', { name: 'Cancel' }).click();
  expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Unsaved');
  await page.getByRole('button', { name: 'Live', exact: true }).click();
  await question.getByRole('button', { name: 'Switch to live' }).click();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
});

test.runIf(inject('full'))(
  'a policy that blocks nothing shows an error in the field group',
  async () => {
    const page = await site.open('/policies/create');
    await page.getByRole('textbox', { name: 'Name' }).fill('Nothing');
    await save(page);
    const block = page.getByRole('group', { name: 'Block' });
    await block.getByText('Must block something').waitFor();
    await block.getByLabel('All ads').check();
    await block.getByText('Must block something').waitFor({ state: 'detached' });
    await save(page);
    await page.getByText('Policy created').waitFor();
  },
);

test.runIf(inject('full'))(
  'explains a rejected value in plain language instead of showing a schema pattern',
  async () => {
    const page = await site.open('/advertisers/create');
    await page.getByRole('textbox', { name: 'Name' }).fill('Slash');
    await page.getByRole('textbox', { name: 'Domain' }).fill('https://slash.example/');
    await save(page);
    await page
      .getByText('Must be a host name such as game.example', { exact: false })
      .first()
      .waitFor();
    await page.getByText('Fix the highlighted fields. Domain: must be a host name').waitFor();
    expect(await page.getByText('must match').count()).toBe(0);
  },
);

test.runIf(inject('full'))('the creative form can create a missing advertiser', async () => {
  const page = await site.open('/creatives/create');
  await page.getByRole('textbox', { name: 'Name' }).fill('Inline');
  await page.getByRole('combobox', { name: 'Advertiser' }).fill('Orchard');
  await page.getByRole('option', { name: 'New advertiser Orchard…' }).click();
  const dialog = page.getByRole('dialog', { name: 'New advertiser' });
  await dialog.getByLabel('Domain').fill('orchard.example');
  await dialog.getByRole('button', { name: 'Create advertiser' }).click();
  await dialog.waitFor({ state: 'detached' });
  await expect
    .poll(() => page.getByRole('combobox', { name: 'Advertiser' }).inputValue())
    .toBe('Orchard');
  expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Inline');
  const { body } = await site.owner.send<{ data: Advertiser[] }>('GET', '/v1/advertisers');
  expect(body.data[0]).toMatchObject({ name: 'Orchard', domain: 'orchard.example' });
});
