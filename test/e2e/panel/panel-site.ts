import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright';
import { onTestFinished } from 'vitest';
import { createClient, type Client } from '../../../service/test/http/client.ts';
import { createPanelClient, type PanelClient } from '../../../service/test/http/panel-client.ts';
import { startInProcess } from '../../../service/test/in-process.ts';

type Role = 'owner' | 'operator' | 'viewer';

interface PageOptions {
  /** The signed-in user. Default: the first owner. `nobody` opens the page without a session. */
  as?: PanelClient | 'nobody';
  viewport?: { width: number; height: number };
  colorScheme?: 'light' | 'dark';
  /** The browser's time zone, such as `Asia/Tokyo`. Default: the time zone of this machine. */
  timezoneId?: string;
}

/** The real service with its panel, for the tests in one file. Pages open in a shared browser. */
export interface PanelSite {
  url: string;
  /** The single-use link from the first start. */
  setupUrl: string;
  owner: PanelClient;
  /** The demo game in the sandbox, and its server. */
  game: Client;
  invite(role: Role): Promise<PanelClient & { email: string }>;
  /** Opens a page in a separate browser profile, until the current test has finished. */
  open(path: string, options?: PageOptions): Promise<Page>;
  stop(): Promise<void>;
}

const media = fileURLToPath(new URL('../../../demo/creatives/dist', import.meta.url));

/** @param options.createOwner Whether to create the first owner. Default: true. */
export async function startPanelSite(
  browser: Browser,
  { createOwner = true } = {},
): Promise<PanelSite> {
  const testService = await startInProcess({ TRUEWARD_MEDIA_DIR: media });
  const { url } = testService;
  const setupToken = (await testService.service.users.links.makeForFirstOwner()) ?? '';
  const owner = createPanelClient(url);
  const extractToken = (link: string) => new URL(link).hash.replace('#/setup?token=', '');
  if (createOwner) await owner.setUp(setupToken, 'owner@example.com');
  return {
    url,
    setupUrl: `${url}/panel/#/setup?token=${setupToken}`,
    owner,
    game: createClient(testService),
    async invite(role) {
      const email = `${role}@example.com`;
      const { body } = await owner.send<{ invite_url: string }>('POST', '/panel/api/users', {
        email,
        name: role,
        role,
      });
      const client = createPanelClient(url);
      await client.setUp(extractToken(body.invite_url), email);
      return { ...client, email };
    },
    async open(path, options = {}) {
      const page = await openPage(browser, url, path, { as: owner, ...options });
      onTestFinished(() => page.context().close());
      return page;
    },
    stop: () => testService.stop(),
  };
}

async function openPage(
  browser: Browser,
  url: string,
  path: string,
  { as, viewport = { width: 1440, height: 900 }, colorScheme = 'light', timezoneId }: PageOptions,
): Promise<Page> {
  const context = await browser.newContext({
    viewport,
    colorScheme,
    reducedMotion: 'reduce',
    ...(timezoneId === undefined ? {} : { timezoneId }),
  });
  const [name, value] = (as === 'nobody' ? undefined : as?.cookie())?.split('=') ?? [];
  if (name !== undefined && value !== undefined) {
    await context.addCookies([{ name, value, url, httpOnly: true, sameSite: 'Strict' }]);
  }
  const page = await context.newPage();
  // On a busy machine, a sign-in alone can take more than twenty seconds.
  page.setDefaultTimeout(60_000);
  await page.goto(`${url}/panel/#${path}`);
  return page;
}
