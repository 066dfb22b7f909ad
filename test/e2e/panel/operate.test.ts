import type {
  AdRule,
  Advertiser,
  AuditEntry,
  KillSwitch,
  Policy,
  Source,
} from '../../../protocol/wire.ts';
import type { Page } from 'playwright';
import { expect, inject } from 'vitest';
import { chooseOption, fetchList, findByName, save } from './objects.ts';
import { rowsForRun } from '../../support/quick-run.ts';
import { type PanelSite, startPanelSite } from './panel-site.ts';
import { it as test } from '../worker.ts';

let site: PanelSite;
test.beforeAll(async ({ browser }) => {
  site = await startPanelSite(browser);
});
test.afterAll(() => site.stop());

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
  const [killSwitch] = await fetchList<KillSwitch>(site.owner, '/v1/kill-switches');
  expect(killSwitch).toMatchObject({ state: 'on', reason: 'A bug gives coins away.' });
  expect(Date.parse(killSwitch?.expires_at ?? '') - Date.now()).toBeLessThanOrEqual(3_600_000);

  await page.getByRole('button', { name: 'Resume revive' }).click();
  await page.getByText(/revive resumed\. In effect/).waitFor();
  expect(await decide()).toMatchObject({ status: 'filled' });
  const [entry] = await fetchList<AuditEntry>(site.owner, '/v1/audit-entries');
  expect(entry).toMatchObject({ actor: 'owner@example.com', target_id: killSwitch?.id });

  // The table is wider than a phone's screen, so the table scrolls, but the page does not.
  await page.goto(`${site.url}/panel/#/placements`);
  await page.getByRole('link', { name: 'revive' }).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
});

test('says who else stops before an advertiser is stopped', async () => {
  const [advertiser] = await fetchList<Advertiser>(site.owner, '/v1/advertisers');
  const page = await site.open('/kill-switches');
  const dialog = page.getByRole('dialog');
  const openDialog = async (name: string | undefined) => {
    await page.getByRole('button', { name: `Stop ${name}`, exact: true }).click();
    return dialog.textContent();
  };
  expect(await openDialog(advertiser?.name)).toContain('Advertisers with the same domain stop');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect(await openDialog('revive')).not.toContain('domain');
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
  expect(await fetchList<Policy>(site.owner, '/v1/policies')).toEqual([]);

  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'No films on phones' }).waitFor();
  const [policy] = await fetchList<Policy>(site.owner, '/v1/policies');
  expect(policy).toMatchObject({
    placements: ['revive'],
    when: { countries: ['DE'], devices: ['mobile'] },
    block: { formats: ['video', 'image', 'html'] },
  });
});

const viewports = [
  { width: 390, height: 844 },
  { width: 1_440, height: 900 },
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
    expect(await fetchList<AdRule>(site.owner, '/v1/ad-rules')).toEqual([]);

    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: sentence }).waitFor();
    const [rule] = await fetchList<AdRule>(site.owner, '/v1/ad-rules');
    expect(rule).toMatchObject({ formats: ['interstitial'], first_after_s: 60, gap_s: 120 });
    await site.owner.send('DELETE', `/v1/ad-rules/${rule?.id}`);
  });
}

test.runIf(inject('full'))(
  'the first interstitial placement comes with the recommended ad rules',
  async () => {
    const page = await site.open('/placements/create');
    await page.getByRole('textbox', { name: 'Name' }).fill('level-end');
    await chooseOption(page, 'Format', 'interstitial');
    await page.getByRole('switch', { name: 'Add the recommended ad rules' }).waitFor();
    // A name that is taken doesn’t add them twice.
    await page.getByRole('button', { name: 'Save' }).click();
    await page
      .getByText(/is taken|already exists/)
      .first()
      .waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('chapter-end');
    await save(page, 'chapter-end');
    const rules = await fetchList<AdRule>(site.owner, '/v1/ad-rules');
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
  },
);

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
  const killSwitches = await fetchList<KillSwitch>(site.owner, '/v1/kill-switches');
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

test.runIf(inject('full'))('a bidder’s supply chain can be edited as lines of text', async () => {
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
  const savedSource = await findByName<Source>(
    site.owner,
    '/v1/sources?limit=100',
    'Bidder with a chain',
  );
  expect(savedSource.supply_chain).toEqual([
    { asi: 'ads.example', sid: '1' },
    { asi: 'other.example', sid: '9' },
  ]);
});
