import { fileURLToPath } from 'node:url';
import type { Creative, HouseAd, Placement } from '../../../protocol/wire.ts';
import type { Page } from 'playwright';
import { expect, inject } from 'vitest';
import { createPanelClient } from '../../../service/test/http/panel-client.ts';
import { chooseOption, findByName, save } from './objects.ts';
import { type PanelSite, startPanelSite } from './panel-site.ts';
import { it as test } from '../worker.ts';

let site: PanelSite;
test.beforeAll(async ({ browser }) => {
  site = await startPanelSite(browser);
});
test.afterAll(() => site.stop());

const creativePath = (name: string) =>
  fileURLToPath(new URL(`../../../demo/creatives/dist/${name}`, import.meta.url));

test('an operator can turn a file into an ad that players see', async () => {
  const page = await site.open('/placements/create');
  await page.getByRole('textbox', { name: 'Name' }).fill('bonus-round');
  await chooseOption(page, 'Format', 'rewarded');
  await page.getByLabel('Reward amount').fill('75');
  await page.getByLabel('Reward type').fill('gems');
  // Durations have units. The field with the error comes into view and has the focus, even if it was folded away.
  const lateWindow = page.getByRole('textbox', { name: 'Late window' });
  await page.getByRole('button', { name: 'Watch time and late completions' }).click();
  expect(await lateWindow.inputValue()).toBe('24 h');
  await lateWindow.fill('48');
  await page.getByRole('button', { name: 'Watch time and late completions' }).click();
  await lateWindow.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Add a unit: 48 s, 48 min or 48 h.').waitFor();
  await expect.poll(() => lateWindow.evaluate((field) => field.matches(':focus'))).toBe(true);
  await lateWindow.fill('48 h');
  await page.getByRole('textbox', { name: 'Cooldown' }).fill('1 min 30 s');
  await save(page, 'bonus-round');
  expect(await findByName<Placement>(site.owner, '/v1/placements', 'bonus-round')).toMatchObject({
    cooldown_s: 90,
    late_window_s: 172_800,
    min_view_ms: 5_000,
  });

  // The new placement has no ads yet, and says so.
  const placementRow = page.getByRole('row').filter({ hasText: 'bonus-round' });
  await placementRow.getByText('no ads').waitFor();

  await page.goto(`${site.url}/panel/#/house-ads/create`);
  await page.getByRole('textbox', { name: 'Name' }).fill('Spring');
  await page.getByRole('combobox', { name: 'Creative' }).fill('Spring film');
  await page.getByRole('option', { name: 'New creative Spring film…' }).click();
  const dialog = page.getByRole('dialog', { name: 'New creative' });
  expect(await dialog.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Spring film');
  await expect
    .poll(() => dialog.getByRole('combobox', { name: 'Source' }).inputValue())
    .toBe('House');
  await chooseOption(page, 'Advertiser', 'Meadow');
  await dialog.locator('input[type=file]').setInputFiles(creativePath('meadow.mp4'));
  const fileDetails = dialog.getByRole('status').filter({ hasText: 'File details' });
  await fileDetails.waitFor();
  expect(await fileDetails.textContent()).toMatch(/640 × 360.*12\.\d s.*(avc|h264)/is);
  await dialog.getByLabel('Alt text').fill('A meadow in spring.');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  await chooseOption(page, 'Placements', 'bonus-round');
  await page.getByText('Its creative is waiting for review.').waitFor();
  await expectPreviews(page);
  await save(page, 'Spring');
  const houseAdRow = page.getByRole('row').filter({ hasText: 'bonus-round' });
  // Its thumbnail, and the reason why it isn't served.
  await houseAdRow.locator('video[src*="/media/"]').waitFor({ state: 'attached' });
  await houseAdRow.getByText('pending review').nth(1).waitFor();

  await page.goto(`${site.url}/panel/#/review`);
  const queueEntry = page.getByRole('region', { name: 'Spring film' });
  await queueEntry.locator('iframe[data-state=shown]').nth(1).waitFor();
  await queueEntry.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('Nothing to review.').waitFor();
  const creative = await findByName<Creative>(site.owner, '/v1/creatives', 'Spring film');
  expect(creative.review).toMatchObject({ status: 'approved', reviewed_by: 'owner@example.com' });
  await page.goto(`${site.url}/panel/#/house-ads`);
  await houseAdRow.getByText('running').waitFor();
  const houseAd = await findByName<HouseAd>(site.owner, '/v1/house-ads', 'Spring');
  expect(houseAd).toMatchObject({ creative_id: creative.id, placements: ['bonus-round'] });

  const { body } = await site.game.decide({ placement: 'bonus-round', user_ref: 'player' });
  expect(body).toMatchObject({ status: 'filled', reward: { amount: 75, type: 'gems' } });
});

test.runIf(inject('full'))('an empty environment leads to its first ad, step by step', async () => {
  await emptyLive();
  const page = await site.open('/');
  await page.evaluate(() => sessionStorage.setItem('trueward.environment', 'live'));
  await page.reload();
  await page.getByRole('link', { name: 'Set up your first ad' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('revive');
  // An interstitial would come with ad rules.
  await chooseOption(page, 'Format', 'interstitial');
  await page.getByRole('switch', { name: 'Add the recommended ad rules' }).waitFor();
  await chooseOption(page, 'Format', 'rewarded');
  await page.getByLabel('Reward amount').fill('25');
  await page.getByLabel('Reward type').fill('coins');
  await page.getByRole('button', { name: 'Create placement' }).click();
  await page.getByRole('textbox', { name: 'Domain' }).waitFor();
  await page.getByRole('textbox', { name: 'Name' }).fill('My games');
  await page.getByRole('textbox', { name: 'Domain' }).fill('games.example');
  await page.getByRole('button', { name: 'Create advertiser' }).click();
  await page.locator('input[type=file]').setInputFiles(creativePath('harbour.png'));
  await page.getByLabel('Alt text').fill('A harbour.');
  await page.getByText('File details').waitFor();
  await page.getByRole('button', { name: 'Submit for review' }).click();
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('button', { name: 'Create house ad' }).click();
  await page.getByLabel('Allowed origins').fill('*');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Create key' }).click();
  const code = (await page.getByRole('group', { name: 'Code to paste' }).textContent()) ?? '';
  expect(code).toContain(`serviceUrl: '${site.url}'`);
  expect(code).toContain("ads.showRewarded('revive')");
  // An example's player would be shared by all players of all games.
  expect(code).not.toMatch(/^ *userRef:/m);

  const [key = ''] = /pk_live_\w+/.exec(code) ?? [];
  const decision = { placement: 'revive', user_ref: 'player', consent: { status: 'granted' } };
  expect(await site.game.call('POST', '/v1/decisions', key, decision)).toMatchObject({
    body: { status: 'filled', reward: { amount: 25, type: 'coins' } },
  });
  await page.getByText('Your game has requested an ad.').waitFor();
});

/** Removes the demo's objects from the live environment. */
async function emptyLive(): Promise<void> {
  const client = createPanelClient(site.url, 'live');
  await client.signIn('owner@example.com');
  for (const kind of ['house-ads', 'creatives', 'advertisers', 'sources', 'placements', 'keys']) {
    const { body } = await client.send<{ data: { id: string }[] }>('GET', `/v1/${kind}?limit=100`);
    for (const { id } of body.data) await client.send('DELETE', `/v1/${kind}/${id}`);
  }
}

/** Asserts that the previews use the SDK's own overlay in three sizes and show the placement's reward. */
async function expectPreviews(page: Page): Promise<void> {
  for (const size of ['1280 × 720', '800 × 600', '360 × 640']) {
    const frame = page.locator(`iframe[title="Preview at ${size}"]`);
    await page.locator(`iframe[title="Preview at ${size}"][data-state=shown]`).waitFor();
    const title = frame.contentFrame().locator('dialog .title');
    // A preview follows its form a moment later.
    await expect.poll(() => title.textContent()).toContain('75\u00a0gems');
    expect(await frame.contentFrame().locator('video').count()).toBe(1);
  }
}

test.runIf(inject('full'))(
  'the review queue shows an external ad with its source and its icon',
  async () => {
    const film = await findByName<Creative>(site.owner, '/v1/creatives', 'Meadow');
    const review = { status: 'pending_review', reason_code: 'new_icon', feedback: 'Look at it.' };
    const page = await site.open('/creatives');
    const icon = { url: `${site.url}/media/lobby-banner.png`, width: 77, height: 15 };
    // Stubs the response, because these fields are set only by the service, when it imports a creative.
    await page.route('**/panel/api/creatives?*', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { data: Creative[] };
      const externalCreative = {
        ...film,
        name: 'From a network',
        review,
        origin_url: 'https://media.network.test/film.mp4',
        icons: [{ ...icon, origin_url: 'https://icons.network.test/choices.png' }],
      };
      await route.fulfill({ response, json: { ...body, data: [externalCreative] } });
    });
    await page.goto(`${site.url}/panel/#/review`);
    const card = page.getByRole('region', { name: 'From a network' });
    await card.getByText('https://media.network.test/film.mp4').waitFor();
    await card.getByText('New icon').waitFor();
    await card.getByText('Look at it.').waitFor();
    await card.getByText('12 s', { exact: true }).waitFor();
    await card
      .getByRole('img', { name: 'Icon from https://icons.network.test/choices.png' })
      .waitFor();
    const preview = card.locator('iframe').first().contentFrame();
    await preview.locator('.icon img').waitFor();
  },
);

test.runIf(inject('full'))('the preview shows an external ad’s icon and skip control', async () => {
  const page = await site.open('/creatives');
  const { alt, id, media } = await findByName<Creative>(site.owner, '/v1/creatives', 'Meadow');
  const icon = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>';
  await page.evaluate(
    (creative) => {
      const frame = document.createElement('iframe');
      frame.setAttribute('sandbox', 'allow-scripts');
      frame.allow = 'autoplay';
      frame.style.cssText = 'position:fixed;inset:0;z-index:9999;width:640px;height:360px';
      frame.title = 'external';
      addEventListener('message', ({ data, source }) => {
        if (source !== frame.contentWindow || data.trueward !== 'ready') return;
        frame.contentWindow?.postMessage(
          { trueward: 'preview', creative, format: 'interstitial' },
          '*',
        );
      });
      frame.src = '/panel/preview.html';
      document.body.append(frame);
    },
    {
      id,
      media,
      alt,
      advertiser: 'Meadow',
      icon: { url: icon, width: 77, height: 15 },
      skip_after_ms: 0,
    },
  );
  const preview = page.locator('iframe[title=external]').contentFrame();
  await preview.locator('.icon img').waitFor();
  await preview.getByRole('button', { name: 'Skip ad' }).waitFor();
  expect(await preview.locator('dialog').getAttribute('aria-label')).toContain('Meadow: ');
});

test.runIf(inject('full'))('shows a changed creative next to its previous version', async () => {
  const { id } = await findByName<Creative>(site.owner, '/v1/creatives', 'Harbour');
  const page = await site.open(`/creatives/${id}`);
  await page.locator('input[type=file]').setInputFiles(creativePath('lobby-banner.png'));
  await page.getByText('File details').waitFor();
  await save(page, 'Harbour');

  await page.goto(`${site.url}/panel/#/review`);
  const queueEntry = page.getByRole('region', { name: 'Harbour' });
  const readImageUrl = (version: string) =>
    queueEntry
      .getByRole('region', { name: version })
      .locator('iframe')
      .first()
      .contentFrame()
      .locator('dialog + img, img')
      .getAttribute('src');
  expect(await readImageUrl('Previous version')).toMatch(/harbour\.png$/);
  expect(await readImageUrl('New version')).toMatch(/[0-9a-f]{64}\.png$/);

  await chooseOption(page, 'Reason', 'Poor image or sound quality');
  await queueEntry.getByLabel('Feedback').fill('It is only a banner.');
  await queueEntry.getByRole('button', { name: 'Reject' }).click();
  await page.getByText('Nothing to review.').waitFor();
  expect((await findByName<Creative>(site.owner, '/v1/creatives', 'Harbour')).review).toMatchObject(
    {
      status: 'rejected',
      reason_code: 'bad_quality',
      feedback: 'It is only a banner.',
    },
  );
});

test('rejects a file whose contents do not match its declared type', async () => {
  const page = await site.open('/creatives/create');
  await page.getByRole('textbox', { name: 'Name' }).fill('Kept');
  await page.locator('input[type=file]').setInputFiles({
    name: 'film.mp4',
    mimeType: 'video/mp4',
    buffer: Buffer.from('<?php echo 1; ?>'),
  });
  await page.getByRole('alert').waitFor();
  await page.locator('input[type=file]').setInputFiles({
    name: 'picture.png',
    mimeType: 'image/png',
    buffer: Buffer.from('<!doctype html><title>A page</title>'),
  });
  await page.getByText('The file is text/html, but was declared as image/png.').waitFor();
  expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Kept');
});
