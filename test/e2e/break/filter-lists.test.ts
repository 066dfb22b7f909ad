import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BrowserContext, Page, Request, Route } from 'playwright';
import { expect } from 'vitest';
import { closeControl, getResult, show } from '../browser.ts';
import { it } from '../worker.ts';

// Shows ads in a page whose requests and styles pass through a real blocking engine with real filter lists. The lists
// aren't part of this repository: FILTER_LISTS is a folder with lists such as `easylist.txt`, in which
// `npm install @ghostery/adblocker` has been run.

/** What these tests use of `@ghostery/adblocker`. */
interface FilterPackage {
  FiltersEngine: { parse(lists: string): FilterEngine };
  Request: { fromRawDetails(details: { url: string; sourceUrl: string; type: string }): object };
}
interface FilterEngine {
  match(request: object): { match: boolean; filter?: object };
  getCosmeticsFilters(page: {
    url: string;
    hostname: string;
    domain: string;
    classes: string[];
    hrefs: string[];
    ids: string[];
  }): { styles: string };
}

const folder = process.env['FILTER_LISTS'] ?? '';
const enginePackage = '@ghostery/adblocker';
const gameUrl = 'https://game.studio.example';

async function startEngine() {
  const require = createRequire(resolve(folder, 'package.json'));
  const path = require.resolve(enginePackage);
  const { FiltersEngine, Request: FilterRequest } = (await import(
    pathToFileURL(path).href
  )) as FilterPackage;
  const lists = readdirSync(folder).filter(
    (name) => name.endsWith('.txt') && name !== 'README.txt',
  );
  const text = lists.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
  return { engine: FiltersEngine.parse(text), FilterRequest };
}
let started: ReturnType<typeof startEngine> | undefined;

/** Names that the engine has for types of requests, if they differ from the browser's. */
const typeNames: Record<string, string> = { document: 'sub_frame', fetch: 'xhr' };

/** Opens the plain page as if its game and the service had public addresses. */
async function openFiltered(
  context: BrowserContext,
  pageUrl: string,
  addresses: [string, string][],
) {
  const { engine, FilterRequest } = await (started ??= startEngine());
  const toPublic = (url: string): string =>
    addresses.reduce((text, [own, address]) => text.replace(own, address), url);
  const blocked: string[] = [];
  const decide = (request: Request, route: Route): Promise<void> => {
    if (request.isNavigationRequest() && request.frame().parentFrame() === null)
      return route.continue();
    const type = request.resourceType();
    const url = toPublic(request.url());
    const details = { url, sourceUrl: `${gameUrl}/`, type: typeNames[type] ?? type };
    if (!engine.match(FilterRequest.fromRawDetails(details)).match) return route.continue();
    blocked.push(`${type} ${url}`);
    return route.abort('blockedbyclient');
  };
  const page = await context.newPage();
  await page.route('**', (route, request) => decide(request, route));
  await page.goto(pageUrl);
  return { page, blocked, hideElements: () => hideElements(page, engine) };
}

/** Adds the style rules by which the engine hides elements. */
async function hideElements(page: Page, engine: FilterEngine): Promise<void> {
  const found = await page.evaluate(() => {
    const elements = [...document.querySelectorAll('*')];
    return {
      classes: elements.flatMap(({ classList }) => [...classList]),
      ids: elements.map(({ id }) => id).filter((id) => id !== ''),
      hrefs: elements.map((element) => element.getAttribute('href') ?? '').filter(Boolean),
    };
  });
  const place = {
    url: `${gameUrl}/`,
    hostname: new URL(gameUrl).hostname,
    domain: 'studio.example',
  };
  const { styles } = engine.getCosmeticsFilters({ ...place, ...found });
  expect(styles).not.toBe('');
  await page.addStyleTag({ content: styles });
}

it.runIf(folder).for(['film', 'revive', 'html'])(
  'filter lists leave an ad alone on a host with a neutral name: %s',
  async (placement, { browser, stack }) => {
    const context = await browser.newContext({ serviceWorkers: 'block' });
    try {
      const pageUrl = stack.pageFor('filtered');
      const { page, blocked, hideElements } = await openFiltered(context, pageUrl, [
        [stack.serviceUrl, 'https://play.studio.example'],
        [new URL(pageUrl).origin, gameUrl],
      ]);
      await hideElements();
      await show(page, 'showRewarded', placement);
      await closeControl(page).waitFor();
      await hideElements();
      await page.getByText('Your reward is on its way').first().waitFor();
      await closeControl(page).click();
      expect(blocked).toEqual([]);
      expect(['rewarded', 'pending']).toContain((await getResult(page))?.outcome);
    } finally {
      await context.close();
    }
  },
);

it.runIf(folder).for(['long-film', 'html'])(
  'filter lists block an ad on a host whose name begins with ads, and the result says so: %s',
  async (placement, { browser, stack }) => {
    const context = await browser.newContext({ serviceWorkers: 'block' });
    try {
      const pageUrl = stack.pageFor('filtered');
      const { page, blocked } = await openFiltered(context, pageUrl, [
        [stack.serviceUrl, 'https://ads.studio.example'],
        [new URL(pageUrl).origin, gameUrl],
      ]);
      await show(page, 'showRewarded', placement);
      expect(await getResult(page)).toMatchObject({ outcome: 'ad_blocked', reason: 'blocked' });
      expect(blocked.length).toBeGreaterThan(0);
    } finally {
      await context.close();
    }
  },
);
