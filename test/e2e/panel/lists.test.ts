import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright';
import { expect, inject } from 'vitest';
import { it as test } from '../worker.ts';
import { type PanelSite, startPanelSite } from './panel-site.ts';

/** More than a page of a list shows. In a full run, also more than the page of kill switches shows. */
const makers = inject('full') ? 130 : 30;
const longName = `Long ${'name-without-an-end-'.repeat(9)}`;

let site: PanelSite;
test.beforeAll(async ({ browser }) => {
  site = await startPanelSite(browser);
  const { owner } = site;
  for (let number = 100; number < 100 + makers; number += 1)
    await owner.send('POST', '/v1/advertisers', { name: `Maker ${number}`, domain: 'm.example' });
  await owner.send('POST', '/v1/advertisers', { name: longName, domain: 'long.example' });
});
test.afterAll(() => site.stop());

const openPage = (page: Page, path: string) => page.goto(`${site.url}/panel/#${path}`);

test.runIf(inject('full'))(
  'without requests, the overview shows a message instead of numbers',
  async () => {
    const page = await site.open('/');
    await page.getByText('No ad requests in this period.').waitFor();
    const reasons = page.getByRole('region', { name: 'No-fill reasons' });
    await reasons.getByText('No requests in this period.').waitFor();
    await page.getByText('No webhooks yet.').waitFor();
  },
);

test('paging, searching and sorting a list each take one request', async () => {
  const page = await site.open('/advertisers');
  await page.getByRole('link', { name: 'Maker 100' }).waitFor();
  const requests: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    // The figures in the list's last column follow the rows.
    if (/^\/(v1|panel\/api)\//.test(pathname) && pathname !== '/v1/reports')
      requests.push(pathname);
  });
  const expectOne = async (name: string) => {
    await page.getByRole('link', { name }).waitFor();
    expect(requests).toEqual(['/panel/api/advertisers']);
    requests.length = 0;
  };
  await page.getByRole('button', { name: 'Go to page 2' }).click();
  await expectOne('Maker 125');
  await page.getByRole('textbox', { name: 'Search' }).fill('maker 11');
  await expectOne('Maker 111');
  expect(await page.getByRole('link', { name: /^Maker/ }).count()).toBe(10);
  await page.getByRole('columnheader', { name: 'Name' }).getByText('Name').click();
  await expect
    .poll(() =>
      page
        .getByRole('link', { name: /^Maker/ })
        .first()
        .textContent(),
    )
    .toBe('Maker 119');
});

test.runIf(inject('full'))(
  'the kill switch page shows the first few targets of each kind, and search finds the rest',
  async () => {
    const page = await site.open('/kill-switches');
    await page.getByText(/^Showing \d+ of \d+/).waitFor();
    expect(await page.getByRole('button', { name: /^Stop / }).count()).toBeLessThan(70);
    expect(await page.getByRole('button', { name: 'Stop Maker 229' }).count()).toBe(0);
    await page.getByLabel('Search').fill('maker 229');
    await page.getByRole('button', { name: 'Stop Maker 229' }).click();
    await page.getByLabel('Reason').fill('a test');
    await page.getByRole('button', { name: 'Stop now' }).click();
    await page.getByText(/Maker 229 stopped/).waitFor();
    // Stopped targets come before all others.
    await page.getByLabel('Search').fill('');
    await expect
      .poll(() => page.getByRole('listitem').getByRole('button').first().getAttribute('aria-label'))
      .toBe('Resume Maker 229');
  },
);

test.runIf(inject('full'))('a long name does not push other columns off the screen', async () => {
  const page = await site.open('/advertisers', { viewport: { width: 1280, height: 800 } });
  await page.getByRole('textbox', { name: 'Search' }).fill('long');
  await page.getByRole('link', { name: longName }).waitFor();
  const cell = await page.getByRole('cell', { name: 'long.example' }).boundingBox();
  expect((cell?.x ?? 0) + (cell?.width ?? 0)).toBeLessThanOrEqual(1_280);

  await openPage(page, '/audit-entries');
  const entry = page.getByRole('row').filter({ hasText: 'advertiser created' }).first();
  await entry.waitFor();
  const changes = await entry.getByRole('cell').last().boundingBox();
  expect((changes?.x ?? 0) + (changes?.width ?? 0)).toBeLessThanOrEqual(1_280);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  const file = await (await download).path();
  expect((await readFile(file, 'utf8')).split('\r\n').slice(0, 2).join('\n')).toMatch(
    /^time,actor,action,name,object_id,field,before,after\n.*,owner@example\.com,/,
  );
  await page.getByLabel('Actor').fill('nobody');
  await page
    .getByText(/No Audit log|No results|Nothing/i)
    .first()
    .waitFor();
});

test.runIf(inject('full'))('on a phone, a short page starts directly below its title', async () => {
  const page = await site.open('/account', { viewport: { width: 390, height: 844 } });
  const heading = page.getByRole('heading', { name: 'Your account', level: 1 });
  await heading.waitFor();
  await openPage(page, '/audit-entries');
  await page.getByText('advertiser created').first().waitFor();
  for (const [path, text] of [
    ['/try', /^Request$/],
    ['/sources', 'House'],
  ] as const) {
    await openPage(page, path);
    const box = await page.getByText(text).first().boundingBox();
    expect(box?.y, path).toBeLessThan(420);
  }
});

test.runIf(inject('full'))('shows and accepts times in the selected time zone', async () => {
  const { owner } = site;
  const { body } = await owner.send<{ data: { id: string }[] }>('GET', '/v1/house-ads');
  const id = body.data[0]?.id;
  await owner.send('PATCH', `/v1/house-ads/${id}`, { starts_at: '2026-01-15T12:00:00.000Z' });
  const page = await site.open(`/house-ads/${id}`, { timezoneId: 'Asia/Tokyo' });
  const startField = page.getByLabel('Starts (Asia/Tokyo)');
  await page.getByRole('button', { name: 'Priority, dates and caps' }).click();
  await expect.poll(() => startField.inputValue()).toBe('2026-01-15T21:00');
  await page.getByLabel('Times in').selectOption('UTC');
  const inUtc = page.getByLabel('Starts (UTC)');
  await expect.poll(() => inUtc.inputValue()).toBe('2026-01-15T12:00');
  await inUtc.fill('2026-01-16T08:30');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('House ad saved').waitFor();
  // The list opens shortly after the notification.
  await page.waitForURL(/#\/house-ads(\?|$)/);
  const { body: savedHouseAd } = await owner.send<{ starts_at: string }>(
    'GET',
    `/v1/house-ads/${id}`,
  );
  expect(savedHouseAd.starts_at).toBe('2026-01-16T08:30:00.000Z');
  await openPage(page, '/audit-entries');
  const time = page.getByRole('row').nth(1).getByRole('time');
  await expect.poll(() => time.textContent()).toMatch(/UTC$/);
});

test('several objects can be paused and archived together', async () => {
  const page = await site.open('/house-ads');
  const select = async (...names: string[]) => {
    for (const name of names)
      await page
        .getByRole('row')
        .filter({ has: page.getByRole('link', { name, exact: true }) })
        .getByRole('checkbox')
        .check();
  };
  await select('Harbour', 'Lantern');
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Confirm' }).click();
  await expect.poll(() => page.getByText('paused', { exact: true }).count()).toBe(2);
  await select('Harbour', 'Lantern');
  await page.getByRole('button', { name: 'Archive' }).click();
  await page.getByText('They are no longer used but stay in reports').waitFor();
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('link', { name: 'Lantern' }).waitFor({ state: 'detached' });
  expect(await page.getByRole('link', { name: 'Harbour' }).count()).toBe(0);
  await page.getByRole('link', { name: 'Meadow' }).waitFor();
});
