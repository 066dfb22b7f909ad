/** `npm run screenshots:panel [folder]` takes the screenshots for the panel guide, with a week of demo data. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright';
import { readOptions } from '../../../scripts/lib/read-options.mjs';
import { createClient } from '../../../service/test/http/client.ts';
import { createPanelClient, type PanelClient } from '../../../service/test/http/panel-client.ts';
import { type InProcessService, startInProcess } from '../../../service/test/in-process.ts';
import { createManualClock, type ManualClock } from '../../../service/test/manual-clock.ts';

const { folder } = readOptions({
  name: 'screenshots:panel',
  about: 'Takes the screenshots for the panel guide, with a week of demo data.',
  options: {
    folder: {
      type: 'text',
      argument: true,
      default: join(import.meta.dirname, '../../../docs/images/panel'),
      help: 'where to write them',
    },
  },
});
const hourMs = 3_600_000;
const desktop = { width: 1100, height: 780 };
const phone = { width: 360, height: 640 };

interface Picture {
  name: string;
  path: string;
  viewport?: { width: number; height: number };
  colorScheme?: 'light' | 'dark';
  /** Prepares the page for the screenshot. Resolves when everything has loaded. */
  prepare(page: Page): Promise<unknown>;
}

const nowMs = Date.now();
const clock = createManualClock(nowMs - 7 * 24 * hourMs);
// Without its own folder, the service would use the database that test files share, which stays open.
const dataDirectory = await mkdtemp(join(tmpdir(), 'trueward-'));
const service = await startInProcess(
  { PUBLIC_URL: 'http://service.test', RATE_LIMITS: 'off' },
  { clock, dataDirectory },
);
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
  // The demo media's URLs contain the host in PUBLIC_URL.
  args: ['--no-sandbox', `--host-resolver-rules=MAP service.test ${new URL(service.url).host}`],
});
try {
  await mkdir(folder, { recursive: true });
  const decisionId = await simulateWeek(service, clock);
  clock.set(nowMs);
  const owner = await signIn(service);
  const creativeId = await changeCreative(owner);
  await addKillSwitch(owner);
  for (const picture of listPictures(decisionId, creativeId))
    await takePicture(browser, owner, picture);
} finally {
  await browser.close();
  await service.stop();
  await rm(dataDirectory, { recursive: true, force: true });
}

/**
 * Simulates a week in which players request ads every four hours, with traffic growing each day. Most ads are watched
 * to the end.
 */
async function simulateWeek(testService: InProcessService, time: ManualClock): Promise<string> {
  const game = createClient(testService);
  let rewardedId = '';
  for (let hour = 0; hour < 7 * 24; hour += 4) {
    const players = 3 + Math.round(hour / 24 + 3 * Math.sin(hour / 5));
    for (let player = 0; player < players; player += 1) {
      const user = `player-${player}`;
      const placement = ['revive', 'double-coins', 'level-end'][player % 3] ?? 'revive';
      if (player % 5 === 4) {
        await game.decide({
          placement,
          user_ref: user,
          simulate: player % 2 ? 'no_fill' : 'killed',
        });
        continue;
      }
      const { body } = await game.decide({ placement, user_ref: user, formats: ['image'] });
      await game.reportStart(body);
      time.set(time.nowMs() + 6_000);
      if (player % 4 === 3) continue;
      await game.report(
        game.createImpression(body),
        game.createEvent(body, 'complete', { watched_ms: 5_600 }),
      );
      if (placement !== 'level-end') rewardedId = body.id;
    }
    time.set(nowMs - 7 * 24 * hourMs + (hour + 4) * hourMs - 1);
  }
  return rewardedId;
}

async function signIn(testService: InProcessService): Promise<PanelClient> {
  const client = createPanelClient(testService.url);
  await client.setUp(
    (await testService.service.users.links.makeForFirstOwner()) ?? '',
    'ada@example.com',
  );
  return client;
}

async function changeCreative(owner: PanelClient): Promise<string> {
  const { body } = await owner.send<{ data: { id: string; name: string }[] }>(
    'GET',
    '/v1/creatives',
  );
  const harbour = body.data.find(({ name }) => name === 'Harbour');
  const meadow = body.data.find(({ name }) => name === 'Meadow');
  await owner.send('PATCH', `/v1/creatives/${harbour?.id}`, {
    media: {
      format: 'image',
      files: [
        {
          url: 'http://service.test/media/meadow-poster.jpg',
          mime: 'image/jpeg',
          width: 640,
          height: 360,
        },
      ],
    },
  });
  return meadow?.id ?? '';
}

async function addKillSwitch(owner: PanelClient): Promise<void> {
  await owner.send('POST', '/v1/kill-switches', {
    scope: 'placement',
    target_id: 'double-coins',
    state: 'on',
    reason: 'Coins are counted twice in 2.1.',
  });
}

function listPictures(decisionId: string, creativeId: string): Picture[] {
  const waitForPreviews = (page: Page, count: number) =>
    page
      .locator('iframe[data-state=shown]')
      .nth(count - 1)
      .waitFor();
  return [
    {
      name: 'overview',
      path: '/',
      async prepare(page) {
        await page.locator('.recharts-line-curve').nth(5).waitFor({ state: 'attached' });
        await page.getByText('No webhooks yet.').waitFor();
      },
    },
    { name: 'review', path: '/review', prepare: (page) => waitForPreviews(page, 4) },
    {
      name: 'preview',
      path: `/creatives/${creativeId}`,
      async prepare(page) {
        await waitForPreviews(page, 3);
        await page.getByText('Preview').scrollIntoViewIfNeeded();
      },
    },
    {
      name: 'decision',
      path: `/decisions/${decisionId}`,
      colorScheme: 'dark',
      prepare: (page) => page.getByText('Webhook deliveries', { exact: true }).waitFor(),
    },
    {
      name: 'policy',
      path: '/policies/create',
      async prepare(page) {
        await page.getByRole('textbox', { name: 'Name' }).fill('No films for children');
        await page.getByRole('group', { name: 'When' }).getByLabel('Child-directed').click();
        await page.getByRole('option', { name: 'Yes' }).click();
        await page.getByRole('combobox', { name: 'Formats' }).click();
        await page.getByRole('option', { name: 'video' }).click();
        await page.getByRole('textbox', { name: 'Name' }).focus();
      },
    },
    {
      name: 'try-request',
      path: '/try',
      async prepare(page) {
        await page.getByRole('combobox', { name: 'Placement' }).click();
        await page.getByRole('option', { name: 'revive' }).click();
        await page.getByRole('combobox', { name: 'Country' }).fill('Germany');
        await page.getByRole('option', { name: 'Germany' }).click();
        await page.getByRole('textbox', { name: 'Segments' }).fill('newcomer');
        await page.getByRole('button', { name: 'Try it' }).click();
        await page.getByText('Candidates').waitFor();
      },
    },
    {
      name: 'kill-switch',
      path: '/kill-switches',
      viewport: phone,
      prepare: (page) => page.getByText('Coins are counted twice').waitFor(),
    },
  ];
}

async function takePicture(from: Browser, owner: PanelClient, picture: Picture): Promise<void> {
  const { name, path, viewport = desktop, colorScheme = 'light', prepare } = picture;
  const context = await from.newContext({ viewport, colorScheme, reducedMotion: 'reduce' });
  const [cookie = '', value = ''] = owner.cookie()?.split('=') ?? [];
  await context.addCookies([{ name: cookie, value, url: service.url }]);
  const page = await context.newPage();
  await page.goto(`${service.url}/panel/#${path}`);
  await prepare(page);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await context.close();
}
