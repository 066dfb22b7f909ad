import { expect } from 'vitest';
import { fillSite } from './fill-site.ts';
import { rowsForRun } from '../../support/quick-run.ts';
import { type PanelSite, startPanelSite } from './panel-site.ts';
import { it as test } from '../worker.ts';

let site: PanelSite;
let webhookId: string;
test.beforeAll(async ({ browser }) => {
  site = await startPanelSite(browser);
  webhookId = (await fillSite(site))['webhooks'] ?? '';
});
test.afterAll(() => site.stop());

test('pages offer only the actions that the user’s role allows', async () => {
  const viewer = await site.invite('viewer');
  const page = await site.open('/placements', { as: viewer });
  await page.getByRole('link', { name: 'revive' }).click();
  await page.getByText('late window').waitFor();
  for (const [path, text] of [
    ['/placements', 'revive'],
    ['/creatives', 'Harbour'],
    ['/review', 'Lobby banner'],
    ['/kill-switches', 'double-coins'],
    ['/keys', 'any origin'],
    [`/webhooks/${webhookId}/show`, /failed attempt/],
  ] as const) {
    await page.goto(`${site.url}/panel/#${path}`);
    await page.getByText(text).first().waitFor();
    const actionButtons = page.getByRole('button', {
      name: /^(create|save|archive|approve|reject|stop|roll|revoke|send|redeliver|new signing)/i,
    });
    expect(await actionButtons.and(page.locator(':enabled')).count(), path).toBe(0);
    expect(await page.getByRole('link', { name: /^create$/i }).count(), path).toBe(0);
  }
  expect(await page.getByRole('menuitem', { name: 'Users' }).count()).toBe(0);

  const operator = await site.invite('operator');
  const operatorPage = await site.open('/placements', { as: operator });
  await operatorPage.getByRole('link', { name: 'Create' }).waitFor();
  await operatorPage.goto(`${site.url}/panel/#/keys`);
  await operatorPage.getByText('any origin').first().waitFor();
  expect(await operatorPage.getByRole('link', { name: 'Create' }).count()).toBe(0);
  expect(await operatorPage.getByRole('button', { name: 'Roll' }).count()).toBe(0);
});

test('a script in any field is displayed as text and never runs', async () => {
  const { owner } = site;
  const hostile = `<img src=x onerror="window.ran=1"><script>window.ran=1</script>`;
  const send = async (path: string, body: object, method = 'POST') => {
    const response = await owner.send<{ id: string }>(method, path, body);
    expect(response.status, JSON.stringify(response.body)).toBeLessThan(300);
    return response.body.id;
  };
  const advertiser = await send('/v1/advertisers', { name: hostile, domain: 'evil.example' });
  const source = await send('/v1/sources', { name: hostile, kind: 'direct' });
  const creative = await send('/v1/creatives', {
    name: hostile,
    advertiser_id: advertiser,
    source_id: source,
    media: {
      format: 'html',
      inline: `${hostile}<script>top.ran=1</script>`,
      width: 300,
      height: 200,
    },
    alt: hostile,
  });
  const houseAd = await send('/v1/house-ads', {
    name: hostile,
    creative_id: creative,
    placements: ['revive'],
  });
  const policy = await send('/v1/policies', {
    name: hostile,
    kind: 'policy',
    when: { segments: [hostile] },
    block: { domains: ['evil.example'] },
  });
  await send('/v1/kill-switches', {
    scope: 'advertiser',
    target_id: advertiser,
    state: 'on',
    reason: hostile,
  });
  const { body } = await site.game.decide({
    placement: 'revive',
    user_ref: hostile,
    custom_data: hostile,
  });

  const page = await site.open('/');
  const paths = [
    '/advertisers',
    `/advertisers/${advertiser}`,
    '/sources',
    '/creatives',
    `/creatives/${creative}`,
    '/review',
    '/house-ads',
    `/house-ads/${houseAd}`,
    '/policies',
    `/policies/${policy}`,
    '/kill-switches',
    '/audit-entries',
    '/decisions',
    `/decisions/${body.id}`,
  ];
  for (const path of rowsForRun(paths, 2)) {
    await page.goto(`${site.url}/panel/#${path}`);
    await page
      .getByText('onerror')
      .or(page.locator('input[value*=onerror]'))
      .first()
      .waitFor({ state: 'attached' });
  }
  expect(await page.evaluate(() => 'ran' in window)).toBe(false);
  expect(await page.locator('script:not([src])').count()).toBe(0);
});
