import type { Browser } from 'playwright';
import { median } from '../outbox/statistics.ts';
import type { FilledSite, Ids } from './site.ts';

/** The panel's pages: what they show, and their paths. */
const listPages = (ids: Ids): Record<string, string> => ({
  overview: '/',
  placements: '/placements',
  'a placement': `/placements/${ids.placement}`,
  'house ads': '/house-ads',
  'a house ad': `/house-ads/${ids.houseAd}`,
  'a new house ad': '/house-ads/create',
  creatives: '/creatives',
  'a creative': `/creatives/${ids.creative}`,
  'a new creative': '/creatives/create',
  advertisers: '/advertisers',
  'an advertiser': `/advertisers/${ids.advertiser}`,
  sources: '/sources',
  'a source': `/sources/${ids.source}`,
  'kill switches': '/kill-switches',
  policies: '/policies',
  'a policy': `/policies/${ids.policy}`,
  'ad rules': '/ad-rules',
  'an ad rule': `/ad-rules/${ids.adRule}`,
  'audit log': '/audit-entries',
  webhooks: '/webhooks',
  'a webhook': `/webhooks/${ids.webhook}`,
  keys: '/keys',
  'a key': `/keys/${ids.key}`,
  users: '/users',
  'a user': `/users/${ids.user}`,
  decisions: '/decisions',
  'a decision': `/decisions/${ids.decision}`,
  'try a decision': '/try',
  'a player’s wallet': `/players?ref=${ids.player}`,
  'a player with 10,000 decisions': '/players?ref=player',
  'first ad': '/first-ad',
  'review queue': '/review',
  account: '/account',
});

/** How long one of a page's requests takes, in milliseconds. */
export interface RequestTimes {
  page: string;
  path: string;
  medianMs: number;
  slowestMs: number;
  kilobytes: number;
}

/** How long a page has asked for nothing new when it has read everything. */
const quietMs = 1_500;

/** Opens the pages in a browser to learn what they read, and then sends each request again and again. */
export async function measurePages(
  browser: Browser,
  { service, owner, ids }: FilledSite,
  rounds: number,
): Promise<RequestTimes[]> {
  const context = await browser.newContext({ viewport: { width: 1_440, height: 900 } });
  const [name = '', value = ''] = owner.cookie()?.split('=') ?? [];
  await context.addCookies([{ name, value, url: service.url }]);
  const page = await context.newPage();
  const pageOf = new Map<string, string>();
  let opened = '';
  let latestAtMs = 0;
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    const path = pathname + search;
    const isRead = request.method() === 'GET' && /^\/(v1|panel\/api)\//.test(pathname);
    if (isRead && !pageOf.has(path)) {
      latestAtMs = performance.now();
      pageOf.set(path, opened);
    }
  });
  for (const [title, path] of Object.entries(listPages(ids))) {
    opened = title;
    await page.goto('about:blank');
    await page.goto(`${service.url}/panel/#${path}`);
    await page.locator('main, [role=main]').first().waitFor();
    // Pages go on reading what they have read, and previews of videos go on loading.
    latestAtMs = performance.now();
    while (performance.now() - latestAtMs < quietMs) await page.waitForTimeout(100);
  }
  await context.close();
  const times: RequestTimes[] = [];
  for (const [path, title] of pageOf) times.push(await time(path, title));
  return times.toSorted((a, b) => b.medianMs - a.medianMs);

  async function time(path: string, title: string): Promise<RequestTimes> {
    const ms: number[] = [];
    let bytes = 0;
    for (let round = 0; round < rounds; round += 1) {
      const startedAtMs = performance.now();
      const response = await fetch(service.url + path, {
        headers: {
          cookie: owner.cookie() ?? '',
          'sec-fetch-site': 'same-origin',
          'trueward-environment': 'sandbox',
        },
      });
      bytes = (await response.arrayBuffer()).byteLength;
      ms.push(performance.now() - startedAtMs);
      // A key that may not read something is answered at once.
      if (response.status >= 400 && response.status !== 404)
        throw new Error(`GET ${path}: ${response.status}`);
    }
    return {
      page: title,
      path: path.replaceAll(/[a-z]+_[0-9A-Z]{26}/g, '…').replaceAll(/\d{4}-\d\d-\d\dT[^&]+/g, '…'),
      medianMs: median(ms) ?? NaN,
      slowestMs: Math.max(...ms),
      kilobytes: bytes / 1_000,
    };
  }
}
