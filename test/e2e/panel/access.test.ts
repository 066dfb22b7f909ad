import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type axeCore from 'axe-core';
import type { Page } from 'playwright';
import { expect } from 'vitest';
import { rowsForRun } from '../../support/quick-run.ts';
import { type PanelSite, startPanelSite } from './panel-site.ts';
import { it as test } from '../worker.ts';

let site: PanelSite;
/** The id of the first object in each list, keyed by path. */
const firstIds: Record<string, string> = {};
let decisionId: string;
test.beforeAll(async ({ browser }) => {
  site = await startPanelSite(browser);
  const { owner, game } = site;
  await owner.send('POST', '/v1/webhooks', {
    url: 'http://127.0.0.1:9/',
    events: ['decision.served'],
  });
  await owner.send('POST', '/v1/policies', {
    name: 'Children',
    kind: 'policy',
    when: { child_directed: true },
    block: { everything: true },
  });
  await owner.send('POST', '/v1/ad-rules', { formats: ['banner'], max_per_day: 100 });
  for (const kind of [
    'placements',
    'house-ads',
    'creatives',
    'policies',
    'ad-rules',
    'webhooks',
    'sources',
  ]) {
    const { body } = await owner.send<{ data: { id: string }[] }>('GET', `/v1/${kind}`);
    firstIds[kind] = body.data[0]?.id ?? '';
  }
  const { body: network } = await owner.send<{ id: string }>('POST', '/v1/sources', {
    name: 'Network',
    kind: 'vast',
    tag_url: 'https://test-source.invalid/vast?outcome=no_bid',
    placements: ['revive'],
  });
  firstIds['external source'] = network.id;
  // Changing the click-through URL puts a creative into the review queue.
  await owner.send('PATCH', `/v1/creatives/${firstIds['creatives']}`, {
    click_url: 'https://lobby.example/new',
  });
  const decision = await game.decideImage('player');
  await game.reportStart(decision);
  decisionId = decision.id;
});
test.afterAll(() => site.stop());

/** Lists every page, with text that is visible once the page has loaded. */
const listScreens = (): [path: string, text: string | RegExp][] => [
  ['/', 'No failed deliveries.'],
  ['/placements', 'double-coins'],
  [`/placements/${firstIds['placements']}`, 'Archive'],
  ['/house-ads', 'Harbour'],
  [`/house-ads/${firstIds['house-ads']}`, 'Preview'],
  [`/creatives/${firstIds['creatives']}`, 'Preview'],
  ['/review', 'Approve'],
  ['/advertisers', 'harbour.example'],
  [`/sources/${firstIds['sources']}`, 'Archive'],
  [`/sources/${firstIds['external source']}`, 'Health, last 24 hours'],
  ['/kill-switches', 'double-coins'],
  ['/policies', 'when the game is directed at children: blocks every ad.'],
  [`/policies/${firstIds['policies']}`, 'Try it'],
  ['/ad-rules', 'At most 100 banners a day.'],
  [`/ad-rules/${firstIds['ad-rules']}`, 'Try it'],
  ['/try', 'Try it'],
  ['/players', 'Find'],
  ['/decisions', 'revive'],
  [`/decisions/${decisionId}`, 'No webhook deliveries for this decision.'],
  ['/audit-entries', 'webhook created'],
  [`/webhooks/${firstIds['webhooks']}`, 'No deliveries.'],
  ['/keys', 'any origin'],
  ['/users', 'owner@example.com'],
  ['/account', 'One-time codes'],
];

test('axe finds no accessibility violations on any page in light or dark mode', async () => {
  const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const page = await site.open('/');
  await page.evaluate(axe);
  const violations: object[] = [];
  const screens = rowsForRun(listScreens(), 4);
  // One theme holds the colors of all pages, so a quick run looks at some of them in dark mode.
  const darkScreens = rowsForRun(screens, 2);
  for (const screen of screens) {
    const [path, text] = screen;
    await page.goto(`${site.url}/panel/#${path}`);
    await page.getByText(text).first().waitFor();
    await page.getByText('Loading', { exact: true }).waitFor({ state: 'detached' });
    for (const colorScheme of ['light', 'dark'] as const) {
      if (colorScheme === 'dark' && !darkScreens.includes(screen)) continue;
      await page.emulateMedia({ colorScheme });
      const rules = colorScheme === 'dark' ? ['color-contrast'] : undefined;
      const pageViolations = await findViolations(page, rules);
      violations.push(...pageViolations.map((violation) => ({ path, colorScheme, ...violation })));
    }
  }
  expect(violations).toEqual([]);
});

/**
 * Returns the violations that axe finds on a page.
 *
 * @param rules The rules to check. Default: all rules. In dark mode, only the colors differ.
 */
async function findViolations(page: Page, rules?: string[]): Promise<object[]> {
  // Doesn't check frames, because they contain previews of creatives, which belong to the advertisers.
  const options = {
    iframes: false,
    resultTypes: ['violations' as const],
    ...(rules ? { runOnly: rules } : {}),
  };
  const { passedRules, violations } = await page.evaluate(async (runOptions) => {
    const { axe } = window as unknown as { axe: typeof axeCore };
    const results = await axe.run(document, runOptions);
    return {
      passedRules: results.passes.map(({ id }) => id),
      violations: results.violations.map(({ id, nodes }) => ({
        id,
        nodes: nodes.map(({ html }) => html),
      })),
    };
  }, options);
  expect(passedRules).toContain('color-contrast');
  return violations;
}

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
    [`/webhooks/${firstIds['webhooks']}/show`, 'No deliveries.'],
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
