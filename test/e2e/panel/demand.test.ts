import { fileURLToPath } from 'node:url';
import type { Creative, HouseAd } from '@trueward/protocol/wire';
import type { Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PanelSite, startPanelSite } from './panel-site.ts';

let site: PanelSite;
beforeAll(async () => {
  site = await startPanelSite();
});
afterAll(() => site.stop());

const creativeFile = (name: string) =>
  fileURLToPath(new URL(`../../../demo/creatives/dist/${name}`, import.meta.url));

/** Opens a field’s list and takes what goes by the name. */
async function choose(page: Page, field: string, name: string): Promise<void> {
  await page.getByLabel(field).click();
  await page.getByRole('option', { name, exact: true }).click();
}

async function save(page: Page, listed: string): Promise<void> {
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('cell', { name: listed, exact: true }).first().waitFor();
}

async function findByName<T extends { name: string }>(path: string, name: string): Promise<T> {
  const { body } = await site.owner.send<{ data: T[] }>('GET', path);
  const found = body.data.find((each) => each.name === name);
  if (found === undefined) throw new Error(`There is no ${name} at ${path}.`);
  return found;
}

test('a new ad gets from the file to the player: upload, review, house ad with preview', async () => {
  const page = await site.open('/placements/create');
  await page.getByLabel('Name').fill('bonus-round');
  await choose(page, 'Format', 'rewarded');
  await page.getByLabel('Reward: amount').fill('75');
  await page.getByLabel('Reward: kind').fill('gems');
  await save(page, 'bonus-round');

  await page.goto(`${site.url}/panel/#/creatives/create`);
  await page.getByLabel('Name').fill('Spring film');
  await choose(page, 'Advertiser', 'Meadow');
  await choose(page, 'Source', 'House');
  await page.locator('input[type=file]').setInputFiles(creativeFile('meadow.mp4'));
  const found = page.getByRole('status').filter({ hasText: 'found in the file' });
  await found.waitFor();
  expect(await found.textContent()).toMatch(/640 × 360.*12\.\d s.*(avc|h264)/is);
  await page.getByLabel('In words').fill('A meadow in spring.');
  await save(page, 'Spring film');

  await page.goto(`${site.url}/panel/#/review`);
  const waiting = page.getByRole('region', { name: 'Spring film' });
  await waiting.locator('iframe[data-state=shown]').nth(1).waitFor();
  await waiting.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('Nothing waits for a review.').waitFor();
  const creative = await findByName<Creative>('/v1/creatives', 'Spring film');
  expect(creative.review).toMatchObject({ status: 'approved', reviewed_by: 'owner@example.com' });

  await page.goto(`${site.url}/panel/#/house-ads/create`);
  await page.getByLabel('Name').fill('Spring');
  await choose(page, 'Creative', 'Spring film');
  await choose(page, 'Placements', 'bonus-round');
  await expectPreviews(page);
  await save(page, 'Spring');
  const houseAd = await findByName<HouseAd>('/v1/house-ads', 'Spring');
  expect(houseAd).toMatchObject({ creative_id: creative.id, placements: ['bonus-round'] });

  const { body } = await site.game.decide({ placement: 'bonus-round', user_ref: 'player' });
  expect(body).toMatchObject({ status: 'filled', reward: { amount: 75, type: 'gems' } });
});

/** The SDK’s own overlay, in three sizes, with the reward of the placement. */
async function expectPreviews(page: Page): Promise<void> {
  for (const size of ['1280 × 720', '800 × 600', '360 × 640']) {
    const frame = page.locator(`iframe[title="Preview at ${size}"]`);
    await page.locator(`iframe[title="Preview at ${size}"][data-state=shown]`).waitFor();
    const title = frame.contentFrame().locator('dialog .title');
    expect(await title.textContent()).toContain('75\u00a0gems');
    expect(await frame.contentFrame().locator('video').count()).toBe(1);
  }
}

test('what was changed is seen beside what it was before, and rejected with a reason', async () => {
  const { id } = await findByName<Creative>('/v1/creatives', 'Harbour');
  const page = await site.open(`/creatives/${id}`);
  await page.locator('input[type=file]').setInputFiles(creativeFile('lobby-banner.png'));
  await page.getByText('found in the file').waitFor();
  await save(page, 'Harbour');

  await page.goto(`${site.url}/panel/#/review`);
  const waiting = page.getByRole('region', { name: 'Harbour' });
  const pictureOf = (version: string) =>
    waiting
      .getByRole('region', { name: version })
      .locator('iframe')
      .first()
      .contentFrame()
      .locator('dialog + img, img')
      .getAttribute('src');
  expect(await pictureOf('Before')).toMatch(/harbour\.png$/);
  expect(await pictureOf('Now')).toMatch(/[0-9a-f]{64}\.png$/);

  await choose(page, 'Reason', 'Bad picture or sound');
  await waiting.getByLabel('Feedback').fill('It is only a banner.');
  await waiting.getByRole('button', { name: 'Reject' }).click();
  await page.getByText('Nothing waits for a review.').waitFor();
  expect((await findByName<Creative>('/v1/creatives', 'Harbour')).review).toMatchObject({
    status: 'rejected',
    reason_code: 'bad_quality',
    feedback: 'It is only a banner.',
  });
});

test('a file that is not what it says is refused with its reason, and its form stays', async () => {
  const page = await site.open('/creatives/create');
  await page.getByLabel('Name').fill('Kept');
  await page.locator('input[type=file]').setInputFiles({
    name: 'film.mp4',
    mimeType: 'video/mp4',
    buffer: Buffer.from('<?php echo 1; ?>'),
  });
  await page.getByRole('alert').waitFor();
  expect(await page.getByLabel('Name').inputValue()).toBe('Kept');
});
