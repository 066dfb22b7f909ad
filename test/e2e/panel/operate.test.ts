import { fileURLToPath } from 'node:url';
import type {
  AdRule,
  AuditEntry,
  Creative,
  HouseAd,
  KillSwitch,
  Placement,
  Policy,
  Source,
} from '../../../protocol/wire.ts';
import type { Page } from 'playwright';
import { expect } from 'vitest';
import { createPanelClient } from '../../../service/test/http/panel-client.ts';
import { type PanelSite, startPanelSite } from './panel-site.ts';
import { rowsForRun } from '../../support/quick-run.ts';
import { it as test } from '../worker.ts';

let site: PanelSite;
test.beforeAll(async ({ browser }) => {
  site = await startPanelSite(browser);
});
test.afterAll(() => site.stop());

const creativePath = (name: string) =>
  fileURLToPath(new URL(`../../../demo/creatives/dist/${name}`, import.meta.url));

/** Opens a select field and chooses the option with this name. */
async function chooseOption(page: Page, field: string, name: string): Promise<void> {
  await page.getByRole('combobox', { name: field }).click();
  await page.getByRole('option', { name, exact: true }).click();
}

/** Saves the form, and waits until the list shows the object with this name. */
async function save(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('cell', { name, exact: true }).first().waitFor();
}

async function fetchList<T>(path: string): Promise<T[]> {
  return (await site.owner.send<{ data: T[] }>('GET', path)).body.data;
}

async function findByName<T extends { name: string }>(path: string, name: string): Promise<T> {
  const match = (await fetchList<T>(path)).find((item) => item.name === name);
  if (match === undefined) throw new Error(`No object named ${name} at ${path}.`);
  return match;
}

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
  expect(await findByName<Placement>('/v1/placements', 'bonus-round')).toMatchObject({
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
  const creative = await findByName<Creative>('/v1/creatives', 'Spring film');
  expect(creative.review).toMatchObject({ status: 'approved', reviewed_by: 'owner@example.com' });
  await page.goto(`${site.url}/panel/#/house-ads`);
  await houseAdRow.getByText('running').waitFor();
  const houseAd = await findByName<HouseAd>('/v1/house-ads', 'Spring');
  expect(houseAd).toMatchObject({ creative_id: creative.id, placements: ['bonus-round'] });

  const { body } = await site.game.decide({ placement: 'bonus-round', user_ref: 'player' });
  expect(body).toMatchObject({ status: 'filled', reward: { amount: 75, type: 'gems' } });
});

test('an empty environment leads to its first ad, step by step', async () => {
  await emptyLive();
  const page = await site.open('/');
  await page.evaluate(() => sessionStorage.setItem('trueward.environment', 'live'));
  await page.reload();
  await page.getByRole('link', { name: 'Set up your first ad' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('revive');
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

test('the review queue shows an external ad with its source and its icon', async () => {
  const film = await findByName<Creative>('/v1/creatives', 'Meadow');
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
});

test('the preview shows an external ad’s icon and skip control', async () => {
  const page = await site.open('/creatives');
  const { alt, id, media } = await findByName<Creative>('/v1/creatives', 'Meadow');
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

test('shows a changed creative next to its previous version', async () => {
  const { id } = await findByName<Creative>('/v1/creatives', 'Harbour');
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
  expect((await findByName<Creative>('/v1/creatives', 'Harbour')).review).toMatchObject({
    status: 'rejected',
    reason_code: 'bad_quality',
    feedback: 'It is only a banner.',
  });
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

const decide = async () =>
  (await site.game.decide({ placement: 'revive', user_ref: 'player' })).body;

test('on a phone, an operator can stop and resume a placement', async () => {
  const page = await site.open('/kill-switches', { viewport: { width: 360, height: 640 } });
  const stop = page.getByRole('button', { name: 'Stop revive' });
  await stop.waitFor();
  const box = await stop.boundingBox();
  expect(box?.height).toBeGreaterThanOrEqual(44);
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(360);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);

  await stop.click();
  const dialog = page.getByRole('dialog');
  const confirm = dialog.getByRole('button', { name: 'Stop now' });
  expect(await confirm.isDisabled()).toBe(true);
  await dialog.getByLabel('Reason').fill('A bug gives coins away.');
  await dialog.getByLabel('Duration').click();
  await page.getByRole('option', { name: '1 hour' }).click();
  await confirm.click();
  await page
    .getByText(/revive stopped\. In effect since .*, \d+\.\d\d s after your click/)
    .waitFor();
  expect(await decide()).toMatchObject({ status: 'no_fill', reason: 'killed' });
  const [killSwitch] = await fetchList<KillSwitch>('/v1/kill-switches');
  expect(killSwitch).toMatchObject({ state: 'on', reason: 'A bug gives coins away.' });
  expect(Date.parse(killSwitch?.expires_at ?? '') - Date.now()).toBeLessThanOrEqual(3_600_000);

  await page.getByRole('button', { name: 'Resume revive' }).click();
  await page.getByText(/revive resumed\. In effect/).waitFor();
  expect(await decide()).toMatchObject({ status: 'filled' });
  const [entry] = await fetchList<AuditEntry>('/v1/audit-entries');
  expect(entry).toMatchObject({ actor: 'owner@example.com', target_id: killSwitch?.id });

  // The table is wider than a phone's screen, so the table scrolls, but the page does not.
  await page.goto(`${site.url}/panel/#/placements`);
  await page.getByRole('link', { name: 'revive' }).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
});

test('describes a policy in a sentence and tests it against a request before it is saved', async () => {
  const page = await site.open('/policies/create');
  await page.getByRole('textbox', { name: 'Name' }).fill('No films on phones');
  await pickOption(page, 'Placements', 'revive');
  await page.getByRole('combobox', { name: 'Countries' }).fill('germ');
  await page.getByRole('option', { name: 'Germany' }).click();
  await pickOption(page, 'Devices', 'mobile');
  await pickOption(page, 'Formats', 'video');
  await pickOption(page, 'Formats', 'image');
  await pickOption(page, 'Formats', 'html');
  await page
    .getByText(
      'On revive, when the country is Germany and the device is mobile: blocks the format video, image or html.',
    )
    .waitFor();

  await page.getByLabel('Placement', { exact: true }).click();
  await page.getByRole('option', { name: 'revive' }).click();
  await page.getByRole('combobox', { name: 'Country', exact: true }).fill('DE');
  await page.getByRole('option', { name: 'Germany' }).click();
  await page.getByLabel('Device', { exact: true }).click();
  await page.getByRole('option', { name: 'mobile' }).click();
  await page.getByRole('button', { name: 'Try it' }).click();
  const result = page.getByRole('region', { name: 'Try this policy' });
  await result.getByText('Blocked by', { exact: true }).waitFor();
  expect(await result.textContent()).toContain('No films on phones');
  expect(await fetchList<Policy>('/v1/policies')).toEqual([]);

  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'No films on phones' }).waitFor();
  const [policy] = await fetchList<Policy>('/v1/policies');
  expect(policy).toMatchObject({
    placements: ['revive'],
    when: { countries: ['DE'], devices: ['mobile'] },
    block: { formats: ['video', 'image', 'html'] },
  });
});

const viewports = [
  { width: 360, height: 740 },
  { width: 1_280, height: 800 },
];
for (const viewport of rowsForRun(viewports, 2)) {
  test(`describes an ad rule in a sentence and tries it on a pasted session, ${viewport.width} pixels wide`, async () => {
    const page = await site.open('/ad-rules/create', { viewport });
    await pickOption(page, 'Formats', 'interstitial');
    await page.getByRole('textbox', { name: 'Start of a session' }).fill('1 min');
    await page.getByRole('textbox', { name: 'Gap', exact: true }).fill('120 s');
    const sentence =
      'No interstitial in a session’s first 1 minute; at least 2 minutes between interstitials.';
    await page.getByText(sentence).first().waitFor();

    const trial = page.getByRole('region', { name: 'Try this rule' });
    const tryOn = async (session: string, answer: string): Promise<void> => {
      await trial.getByLabel('Session (JSON)').fill(session);
      await trial.getByRole('button', { name: 'Try it' }).click();
      await trial.getByText(answer).waitFor();
    };
    await tryOn('{"age_s": 20}', 'The next interstitial ad would be shown 40 seconds later.');
    const ads = '[{"format": "interstitial", "ago_s": 90}]';
    await tryOn(`{"age_s": 95, "ads": ${ads}}`, 'would be shown 30 seconds later.');
    await tryOn('{"age_s": 95}', 'The next interstitial ad would be shown now.');
    await trial.getByLabel('Session (JSON)').fill('{"age_s"');
    await trial.getByText('Paste the session of an ad request').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width);
    expect(await fetchList<AdRule>('/v1/ad-rules')).toEqual([]);

    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: sentence }).waitFor();
    const [rule] = await fetchList<AdRule>('/v1/ad-rules');
    expect(rule).toMatchObject({ formats: ['interstitial'], first_after_s: 60, gap_s: 120 });
    await site.owner.send('DELETE', `/v1/ad-rules/${rule?.id}`);
  });
}

test('the first interstitial placement comes with the recommended ad rules', async () => {
  const page = await site.open('/placements/create');
  await page.getByRole('textbox', { name: 'Name' }).fill('chapter-end');
  await chooseOption(page, 'Format', 'interstitial');
  await page.getByRole('switch', { name: 'Add the recommended ad rules' }).waitFor();
  await save(page, 'chapter-end');
  const rules = await fetchList<AdRule>('/v1/ad-rules');
  expect(
    rules.map(({ formats, first_after_s, gap_s, gap_after }) => [
      formats,
      first_after_s,
      gap_s,
      gap_after,
    ]),
  ).toEqual([
    [['interstitial'], undefined, 60, ['rewarded']],
    [['interstitial'], 60, 120, undefined],
  ]);
  for (const { id } of rules) await site.owner.send('DELETE', `/v1/ad-rules/${id}`);
});

async function pickOption(page: Page, field: string, name: string): Promise<void> {
  await page.getByRole('combobox', { name: field }).click();
  await page.getByRole('option', { name, exact: true }).click();
  await page.keyboard.press('Escape');
}

test('a kill switch can be operated with only the keyboard', async () => {
  const page = await site.open('/');
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  await page.getByRole('menuitem', { name: 'Kill switches' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Stop lobby', exact: true }).waitFor();
  await tabTo(page, 'Stop lobby');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type('By keyboard.');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByText(/lobby stopped/).waitFor();
  const killSwitches = await fetchList<KillSwitch>('/v1/kill-switches');
  expect(killSwitches.map(({ reason }) => reason)).toContain('By keyboard.');
});

/** Presses Tab until the button has focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 80; presses += 1) {
    const focused = await page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
    if (focused === name) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Pressing Tab never moved focus to ${name}.`);
}

test('a bidder’s supply chain can be edited as lines of text', async () => {
  const { body: source } = await site.owner.send<Source>('POST', '/v1/sources', {
    name: 'Bidder with a chain',
    kind: 'openrtb',
    endpoint_url: 'https://bid.example/rtb',
    publisher_id: '1',
    supply_chain: [
      { asi: 'ads.example', sid: '1' },
      { asi: 'reseller.example', sid: '7' },
    ],
  });
  const page = await site.open(`/sources/${source.id}`);
  const chain = page.getByLabel('Supply chain');
  await page.getByRole('button', { name: 'Advanced settings' }).click();
  await expect.poll(() => chain.inputValue()).toBe('ads.example, 1\nreseller.example, 7');
  await chain.fill('ads.example, 1\nother.example');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Enter one “domain, seller ID” per line').waitFor();
  await chain.fill('ads.example, 1\nother.example, 9');
  await save(page, 'Bidder with a chain');
  const savedSource = await findByName<Source>('/v1/sources?limit=100', 'Bidder with a chain');
  expect(savedSource.supply_chain).toEqual([
    { asi: 'ads.example', sid: '1' },
    { asi: 'other.example', sid: '9' },
  ]);
});
