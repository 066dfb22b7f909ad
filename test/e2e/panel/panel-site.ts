import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright';
import { onTestFinished } from 'vitest';
import { createClient, type Client } from '../../../service/test/http/client.ts';
import { createPanelClient, type PanelClient } from '../../../service/test/http/panel-client.ts';
import { startInProcess } from '../../../service/test/in-process.ts';

type Role = 'owner' | 'operator' | 'viewer';

interface Appearance {
  viewport?: { width: number; height: number };
  colorScheme?: 'light' | 'dark';
  /** The browser's time zone, such as `Asia/Tokyo`. Default: the time zone of this machine. */
  timezoneId?: string;
}

interface PageOptions extends Appearance {
  /** The signed-in user. Default: the first owner. `nobody` opens the page without a session. */
  as?: PanelClient | 'nobody';
  /** Whether the page has a browser profile of its own. Default: only without a session. */
  separate?: boolean;
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
  /**
   * Opens a page until the current test has finished. Without a session, the page has a browser profile of its own. Pages
   * with the same session share one, so that the browser loads and compiles the panel once, not for each test.
   */
  open(path: string, options?: PageOptions): Promise<Page>;
  stop(): Promise<void>;
}

const media = fileURLToPath(new URL('../../../demo/creatives/dist', import.meta.url));

/**
 * @param options.createOwner Whether to create the first owner. Default: true.
 * @param options.env Further settings of the service.
 */
export async function startPanelSite(
  browser: Browser,
  { createOwner = true, env = {} }: { createOwner?: boolean; env?: Record<string, string> } = {},
): Promise<PanelSite> {
  const testService = await startInProcess({ TRUEWARD_MEDIA_DIR: media, ...env });
  const { url } = testService;
  const setupToken = (await testService.service.users.links.makeForFirstOwner()) ?? '';
  const owner = createPanelClient(url);
  const profiles = new Map<string, BrowserContext>();
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
      const { as = owner, separate = as === 'nobody', ...appearance } = options;
      const cookie = as === 'nobody' ? undefined : as.cookie();
      const profile = JSON.stringify([cookie, appearance]);
      const shared = separate ? undefined : profiles.get(profile);
      const context = shared ?? (await openProfile(browser, url, cookie, appearance));
      if (!separate) profiles.set(profile, context);
      const page = await context.newPage();
      onTestFinished(async () => {
        if (separate) return context.close();
        // What a test stored or changed must not reach the next one.
        await page.evaluate(() => localStorage.clear());
        await page.close();
        const [current] = await context.cookies();
        if (`${current?.name}=${current?.value}` === cookie) return;
        profiles.delete(profile);
        await context.close();
      });
      // On a busy machine, a sign-in alone can take more than twenty seconds.
      page.setDefaultTimeout(60_000);
      await page.goto(`${url}/panel/#${path}`);
      return page;
    },
    async stop() {
      for (const context of profiles.values()) await context.close();
      await testService.stop();
    },
  };
}

async function openProfile(
  browser: Browser,
  url: string,
  cookie: string | undefined,
  { viewport = { width: 1440, height: 900 }, colorScheme = 'light', timezoneId }: Appearance,
): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport,
    colorScheme,
    reducedMotion: 'reduce',
    ...(timezoneId === undefined ? {} : { timezoneId }),
  });
  const [name, value] = cookie?.split('=') ?? [];
  if (name !== undefined && value !== undefined) {
    await context.addCookies([{ name, value, url, httpOnly: true, sameSite: 'Strict' }]);
  }
  return context;
}
