import type { Creative, Source } from '../../../protocol/wire.ts';
import { expect, inject } from 'vitest';
import { it as test } from '../worker.ts';
import { rowsForRun } from '../../support/quick-run.ts';
import { chooseOption, findByName, save } from './objects.ts';
import { type PanelSite, startPanelSite } from './panel-site.ts';

let site: PanelSite;
test.beforeAll(async ({ browser }) => {
  site = await startPanelSite(browser);
});
test.afterAll(() => site.stop());

const addSource = async (outcome: string): Promise<Source> => {
  const { body } = await site.owner.send<Source>('POST', '/v1/sources', {
    name: `Network: ${outcome}`,
    kind: 'vast',
    tag_url: `https://test-source.invalid/vast?outcome=${outcome}`,
    placements: ['revive'],
    priority: 1,
    timeout_ms: 300,
    cpm_micros: 2_000_000,
  });
  return body;
};

test.runIf(inject('full'))(
  'an operator can try a source and submit its creative for review',
  async () => {
    const source = await addSource('wrapper');
    const page = await site.open(`/sources/${source.id}`);
    const card = page.getByRole('region', { name: 'Try it' });
    await card.getByRole('button', { name: 'Try it' }).click();
    await card.getByText('its creative has not been imported yet').waitFor();
    await card.getByText('test-advertiser.example').first().waitFor();
    await card.getByText('Trackers (', { exact: false }).click();
    await card.getByText('event=complete').first().waitFor();
    expect(await card.getByText('GET https://test-source.invalid/').count()).toBe(2);

    await card.getByRole('button', { name: 'Submit for review' }).click();
    const findCreative = async () =>
      (
        await site.owner.send<{ data: Creative[] }>('GET', '/v1/creatives?limit=100')
      ).body.data.find(({ source_id: sourceId }) => sourceId === source.id);
    await expect.poll(findCreative, { timeout: 20_000 }).toBeDefined();
    const { id = '' } = (await findCreative()) ?? {};
    await site.owner.send('POST', `/v1/creatives/${id}/review`, { status: 'approved' });
    await card.getByRole('button', { name: 'Try it' }).click();
    await card.getByText('The ad would be shown.').waitFor();
    await card.locator('iframe[data-state=shown]').first().waitFor();
  },
);

test.for(
  rowsForRun(
    [
      ['no_bid', 'The source has no ad for this request.'],
      ['timeout', 'The source did not respond within 300 ms.'],
      ['error', 'The source failed: The response has status 500'],
      ['invalid', 'The ad cannot be used: '],
    ] as const,
    4,
  ),
)('trying a source shows why there is no ad (%s)', async ([outcome, text]) => {
  const source = await addSource(outcome);
  const page = await site.open(`/sources/${source.id}`);
  const card = page.getByRole('region', { name: 'Try it' });
  await card.getByRole('button', { name: 'Try it' }).click();
  await card.getByText(text).waitFor();
});

test('a source’s page shows its health to viewers', async () => {
  const source = await addSource('no_bid');
  for (let player = 0; player < 3; player += 1)
    await site.game.decide({ placement: 'revive', user_ref: `health-${player}` });
  const viewer = await site.invite('viewer');
  const page = await site.open(`/sources/${source.id}/show`, { as: viewer });
  const card = page.getByRole('region', { name: 'Health, last 24 hours' });
  await card.getByText('closed').waitFor();
  expect(await card.locator('dl').innerText()).toMatch(/Requests\s+3\s+Fill rate\s+0%/);
  await page.getByRole('region', { name: 'Requests and ads' }).waitFor();
  expect(await page.getByRole('button', { name: 'Try it' }).count()).toBe(0);
});

test.runIf(inject('full'))('an operator can let Google’s H5 ads take their turn', async () => {
  const page = await site.open('/sources/create');
  await page.getByRole('textbox', { name: 'Name' }).fill('Google');
  await chooseOption(page, 'Kind', 'Page: Google’s H5 ads or another ad SDK in the game’s page');
  const adapter = page.getByRole('textbox', { name: 'Ad SDK' });
  await expect.poll(() => adapter.inputValue()).toBe('google_h5');
  await chooseOption(page, 'Placements', 'revive');
  await save(page, 'Google');
  expect(await findByName<Source>(site.owner, '/v1/sources', 'Google')).toMatchObject({
    kind: 'page',
    adapter: 'google_h5',
    placements: ['revive'],
  });
});

test.runIf(inject('full'))(
  'an owner lets a network confirm the views of its source, and sees the URL once',
  async () => {
    const { body: source } = await site.owner.send<Source>('POST', '/v1/sources', {
      name: 'Network',
      kind: 'page',
      adapter: 'custom:network',
      placements: ['revive'],
    });
    const page = await site.open(`/sources/${source.id}`);
    const card = page.getByRole('region', { name: 'Confirmation by the network' });
    await card.getByText('only the ad SDK in the player’s page says').waitFor();
    await card.getByRole('button', { name: 'Set up' }).click();
    await page.getByRole('textbox', { name: 'Parameter with the decision’s ID' }).fill('custom_1');
    await page.getByRole('button', { name: 'Save' }).last().click();
    const created = page.getByRole('dialog', { name: 'URL of the callback' });
    const url = await created.getByText('/v1/source-callbacks/').innerText();
    expect(url).toMatch(
      new RegExp(`/v1/source-callbacks/${source.id}\\?custom_1=DECISION_ID&key=cbs_[\\w-]{32}`),
    );
    await created.getByRole('button', { name: 'Done' }).click();
    await card.getByText('with the decision’s ID in custom_1 and the secret in key').waitFor();
    await card.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await card.getByText('only the ad SDK in the player’s page says').waitFor();
  },
);
