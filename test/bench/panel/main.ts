/**
 * `npm run bench:panel` measures how long the panel's requests take with 10,000 objects of each kind. Opens the pages in
 * Chromium to learn what they request, and then sends each request again and again.
 */
import { parseArgs } from 'node:util';
import { type Browser, chromium } from 'playwright';
import { createClient } from '../../../service/test/http/client.ts';
import { type PanelClient, signInOwner } from '../../../service/test/http/panel-client.ts';
import { type InProcessService, startInProcess } from '../../../service/test/in-process.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from '../outbox/statistics.ts';
import { createDatabase } from '../service/meter.ts';
import { requirePostgres } from '../service/side.ts';
import { addRows } from './fill.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '20' },
    database: { type: 'string', default: 'postgres,embedded' },
    help: { type: 'boolean' },
  },
});
if (values.help === true) {
  console.log(`npm run bench:panel [-- --count 10000 --rounds 20 --database postgres,embedded]

--count: objects of each kind. --rounds: how often each request is sent. Takes about 4 minutes.`);
  process.exit();
}
const count = Number(values.count);
const rounds = Number(values.rounds);

const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  for (const name of values.database.split(',')) await measure(name);
} finally {
  await browser.close();
}

async function measure(name: string): Promise<void> {
  const postgres = name === 'postgres' ? await requirePostgres() : undefined;
  const dataDirectory = await mkdtemp(join(tmpdir(), 'trueward-panel-'));
  const service = await startInProcess(
    {
      RATE_LIMITS: 'off',
      ...(postgres ? { DATABASE_URL: await createDatabase(postgres) } : {}),
    },
    { dataDirectory },
  );
  try {
    const owner = await signInOwner(service);
    const ids = await fill(service, owner);
    const requests = await listRequests(browser, service, owner, ids);
    const rows = [];
    for (const path of requests) rows.push(await time(owner, path));
    console.log(`\n${name}, ${count.toLocaleString('en')} objects of each kind`);
    console.table(rows.toSorted((a, b) => b['median ms'] - a['median ms']));
  } finally {
    await service.stop();
    await postgres?.stop();
    await rm(dataDirectory, { recursive: true, force: true });
  }
}

type Ids = Record<'webhook' | 'player' | 'decision' | 'houseAd' | 'source', string>;

/** Makes one object of each kind with the API, and copies them. */
async function fill(service: InProcessService, owner: PanelClient): Promise<Ids> {
  const game = createClient(service);
  const create = async (path: string, body: object): Promise<string> => {
    const response = await owner.send<{ id: string }>('POST', path, body);
    if (response.status >= 300) throw new Error(`${path}: ${JSON.stringify(response.body)}`);
    return response.body.id;
  };
  const readFirst = async (path: string): Promise<string> =>
    (await owner.send<{ data: { id: string }[] }>('GET', path)).body.data[0]?.id ?? '';
  const webhook = await create('/v1/webhooks', {
    url: 'http://127.0.0.1:9/',
    events: ['decision.served'],
  });
  await create('/v1/policies', { name: 'P', kind: 'policy', block: { domains: ['x.example'] } });
  await create('/v1/ad-rules', { formats: ['banner'], max_per_day: 100 });
  await create('/v1/kill-switches', { scope: 'placement', target_id: 'lobby', state: 'on' });
  const decision = await game.decideImage('player');
  await game.reportStart(decision);
  await game.report(game.createImpression(decision));
  const { body: guest } = await game.call<{ player_ref: string }>(
    'POST',
    '/v1/players',
    game.publishable,
  );
  await owner.send('PUT', '/v1/grant-budgets/coins', { amount: 100 });
  await create(`/v1/wallets/${guest.player_ref}/grants`, {
    type: 'coins',
    amount: 5,
    reason: 'a test',
  });
  const { database } = service.service;
  const [account] = await database.query<{ id: string }>(
    `SELECT account_id AS id FROM accounts WHERE name = 'Demo'`,
  );
  const startedAtMs = performance.now();
  const { id: decisionId } = decision;
  await addRows(database, { accountId: account?.id ?? '', webhookId: webhook, decisionId }, count);
  console.log(`Filled in ${((performance.now() - startedAtMs) / 1_000).toFixed(0)} s`);
  return {
    webhook,
    player: guest.player_ref,
    decision: decisionId,
    houseAd: await readFirst('/v1/house-ads'),
    source: await readFirst('/v1/sources'),
  };
}

/** Opens the pages, and returns the paths of what they read. */
async function listRequests(
  from: Browser,
  { url }: InProcessService,
  owner: PanelClient,
  ids: Ids,
): Promise<string[]> {
  const context = await from.newContext({ viewport: { width: 1_440, height: 900 } });
  const [name = '', value = ''] = owner.cookie()?.split('=') ?? [];
  await context.addCookies([{ name, value, url }]);
  const page = await context.newPage();
  const paths = new Set<string>();
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (request.method() === 'GET' && /^\/(v1|panel\/api)\//.test(pathname))
      paths.add(pathname + search);
  });
  const seconds: Record<string, string> = {};
  for (const path of [
    '/',
    '/placements',
    '/house-ads',
    `/house-ads/${ids.houseAd}`,
    '/house-ads/create',
    '/creatives',
    '/creatives/create',
    '/advertisers',
    '/sources',
    `/sources/${ids.source}`,
    '/kill-switches',
    '/policies',
    '/policies/create',
    '/ad-rules',
    '/audit-entries',
    '/webhooks',
    `/webhooks/${ids.webhook}`,
    '/keys',
    '/users',
    '/decisions',
    '/decisions?player=player&state=earned',
    `/decisions/${ids.decision}`,
    '/try',
    '/players',
    `/players?ref=${ids.player}`,
    '/players?ref=player',
    '/first-ad',
    '/review',
  ]) {
    const startedAtMs = performance.now();
    await page.goto('about:blank');
    await page.goto(`${url}/panel/#${path}`);
    await page.locator('main, [role=main]').first().waitFor();
    // Pages that refetch every two seconds are idle in between.
    await page.waitForLoadState('networkidle', { timeout: 120_000 });
    seconds[path] = ((performance.now() - startedAtMs) / 1_000).toFixed(1);
  }
  console.log('Seconds until a page has read everything, with half a second of waiting:');
  console.table(seconds);
  await context.close();
  return [...paths];
}

interface Timing {
  path: string;
  'median ms': number;
  'slowest ms': number;
}

async function time(owner: PanelClient, path: string): Promise<Timing> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const startedAtMs = performance.now();
    const { status } = await owner.send('GET', path);
    times.push(performance.now() - startedAtMs);
    if (status >= 400)
      return { path: `${path.slice(0, 100)} (${status})`, 'median ms': 0, 'slowest ms': 0 };
  }
  return {
    path: path.slice(0, 110),
    'median ms': Math.round(median(times) ?? 0),
    'slowest ms': Math.round(Math.max(...times)),
  };
}
