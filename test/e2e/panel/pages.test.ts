import type { Page } from 'playwright';
import { expect, inject, vi } from 'vitest';
import { customPages } from '../../../service/panel/src/pages.tsx';
import { resources } from '../../../service/panel/src/resources.tsx';
import { it as test } from '../worker.ts';
import { addAxe, findCutOff, findLostFocus, findViolations } from './page-checks.ts';
import { fillSite, type SiteIds } from './fill-site.ts';
import { type PanelSite, startPanelSite } from './panel-site.ts';

let site: PanelSite;
let ids: SiteIds;
test.beforeAll(async ({ browser }) => {
  site = await startPanelSite(browser);
  ids = await fillSite(site);
});
test.afterAll(() => site.stop());

/** The panel's routes. */
const routes = [
  '/',
  ...resources.flatMap(({ name, list, create, edit, show }) => [
    ...(list ? [`/${name}`] : []),
    ...(create ? [`/${name}/create`] : []),
    ...(edit ? [`/${name}/:id`] : []),
    ...(show ? [`/${name}/:id/show`] : []),
  ]),
  ...customPages.map(({ path }) => path),
];

interface Row {
  route: string;
  /** What is visible once the page has loaded. */
  text: string | RegExp;
  /** The object that the page shows. Default: the first one of the resource. */
  id?: keyof SiteIds;
  /** What follows the path. */
  search?: string;
}

/** Every page. Lists and forms that show more for some objects have several rows. */
const rows: Row[] = [
  { route: '/', text: /failed attempt/ },
  { route: '/placements', text: 'double-coins' },
  { route: '/placements/create', text: 'Save' },
  { route: '/placements/:id', text: 'Fill rate' },
  { route: '/placements/:id/show', text: 'late window' },
  { route: '/house-ads', text: 'Harbour' },
  { route: '/house-ads/create', text: 'Save' },
  { route: '/house-ads/:id', text: 'Times chosen' },
  { route: '/house-ads/:id/show', text: 'Times chosen' },
  { route: '/creatives', text: 'Harbour' },
  { route: '/creatives/create', text: 'Save' },
  { route: '/creatives/:id', text: 'Times chosen' },
  { route: '/creatives/:id/show', text: 'Times chosen' },
  { route: '/advertisers', text: 'harbour.example' },
  { route: '/advertisers/create', text: 'Save' },
  { route: '/advertisers/:id', text: 'Times chosen' },
  { route: '/advertisers/:id/show', text: 'Times chosen' },
  { route: '/sources', text: 'Network' },
  { route: '/sources/create', text: 'Save' },
  { route: '/sources/:id', text: 'Times chosen' },
  { route: '/sources/:id', text: 'Health, last 24 hours', id: 'network' },
  { route: '/sources/:id/show', text: 'Health, last 24 hours', id: 'network' },
  { route: '/kill-switches', text: 'Coins are counted twice.' },
  { route: '/policies', text: 'when the game is directed at children: blocks every ad.' },
  { route: '/policies/create', text: 'Try this policy' },
  { route: '/policies/:id', text: 'Try this policy' },
  { route: '/policies/:id/show', text: 'Children' },
  { route: '/ad-rules', text: 'At most 100 banners a day.' },
  { route: '/ad-rules/create', text: 'Try this rule' },
  { route: '/ad-rules/:id', text: 'Try this rule' },
  { route: '/ad-rules/:id/show', text: 'banner' },
  { route: '/audit-entries', text: 'webhook created' },
  { route: '/webhooks', text: 'failing' },
  { route: '/webhooks/create', text: 'Save' },
  { route: '/webhooks/:id', text: /failed attempt/ },
  { route: '/webhooks/:id/show', text: /failed attempt/ },
  { route: '/keys', text: 'any origin' },
  { route: '/keys/create', text: 'Save' },
  { route: '/keys/:id', text: 'Changes apply to the next request.' },
  { route: '/users', text: 'owner@example.com' },
  { route: '/users/create', text: 'Create invitation' },
  { route: '/users/:id', text: 'Create password link' },
  { route: '/decisions', text: 'player 42' },
  { route: '/decisions/:id', text: 'decided', id: 'denied' },
  { route: '/try', text: 'Try it' },
  { route: '/players', text: 'Find' },
  { route: '/players', text: 'Make good', search: 'guest' },
  { route: '/first-ad', text: 'Approve' },
  { route: '/review', text: 'Approve' },
  { route: '/account', text: 'One-time codes' },
];

const viewports = [
  { width: 1_440, height: 900 },
  { width: 1_024, height: 768 },
  { width: 390, height: 844 },
];
const colorSchemes = ['light', 'dark'] as const;

test('every page of the panel has a row here', () => {
  expect(new Set(rows.map(({ route }) => route))).toEqual(new Set(routes));
});

const getPath = ({ route, id, search }: Row): string => {
  const [, resource = ''] = route.split('/');
  const path = route.replace(':id', ids[id ?? resource] ?? '');
  return search === undefined ? path : `${path}?ref=${encodeURIComponent(ids[search] ?? '')}`;
};

async function openRow(page: Page, row: Row): Promise<void> {
  await page.goto(`${site.url}/panel/#${getPath(row)}`);
  await page.getByText(row.text).first().waitFor();
  await page.getByRole('heading', { level: 1, name: /./ }).waitFor();
  await page.getByText('Loading', { exact: true }).waitFor({ state: 'detached' });
}

// A full run takes one to two minutes for a size, and several times as long on a busy machine.
if (inject('full')) vi.setConfig({ testTimeout: 900_000 });

/** A quick run looks at each page in one size and one color scheme. */
const isInRun = (index: number, size: number, scheme = index % 2): boolean =>
  inject('full') || (size === index % viewports.length && scheme === index % 2);

for (const [size, viewport] of viewports.entries()) {
  const { width } = viewport;
  test(`no page cuts anything off or violates a rule of axe, ${width} pixels wide`, async () => {
    const page = await site.open('/', { viewport });
    await addAxe(page);
    const problems: string[] = [];
    for (const [index, row] of rows.entries()) {
      if (!isInRun(index, size)) continue;
      await openRow(page, row);
      for (const [scheme, colorScheme] of colorSchemes.entries()) {
        if (!isInRun(index, size, scheme)) continue;
        await page.emulateMedia({ colorScheme });
        const found = await findCutOff(page);
        // Only the colors differ between the schemes. A quick run has axe check some of the pages.
        const rules = inject('full') && colorScheme === 'dark' ? ['color-contrast'] : undefined;
        if (inject('full') || index % 5 === 0) found.push(...(await findViolations(page, rules)));
        problems.push(...found.map((each) => `${getPath(row)} ${colorScheme}: ${each}`));
      }
    }
    expect(problems).toEqual([]);
  });

  test(`the keyboard reaches everything, and the focus is visible, ${width} pixels wide`, async () => {
    const page = await site.open('/', { viewport });
    const problems: string[] = [];
    for (const [index, row] of rows.entries()) {
      if (!isInRun(index, size) || (!inject('full') && index % 10 !== 4)) continue;
      await openRow(page, row);
      const found = await findLostFocus(page);
      problems.push(...found.map((each) => `${getPath(row)}: ${each}`));
    }
    expect(problems).toEqual([]);
  });
}

test('a page that waits for the objects that it names violates no rule of axe', async () => {
  const page = await site.open('/', { viewport: { width: 1_440, height: 900 } });
  await addAxe(page);
  await page.route(/[?&]ids=/, () => new Promise(() => {}));
  const problems: string[] = [];
  for (const route of ['/house-ads', '/creatives']) {
    await page.goto(`${site.url}/panel/#${route}`);
    await page.locator('.RaDataTable-table').getByRole('progressbar').first().waitFor();
    problems.push(...(await findViolations(page)));
  }
  expect(problems).toEqual([]);
});

test('the reference of the API fits every screen, with everything unfolded', async () => {
  const page = await site.open('/');
  await page.goto(`${site.url}/docs`);
  await page.evaluate(() => {
    for (const element of document.querySelectorAll('details')) element.open = true;
  });
  await addAxe(page);
  const problems: string[] = [];
  for (const viewport of viewports) {
    await page.setViewportSize(viewport);
    problems.push(...(await findCutOff(page)));
    if (!inject('full')) continue;
    for (const colorScheme of colorSchemes) {
      await page.emulateMedia({ colorScheme });
      problems.push(...(await findViolations(page)));
    }
  }
  expect(problems).toEqual([]);
});
