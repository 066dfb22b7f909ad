import { join } from 'node:path';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import type { BrowserCommand } from 'vitest/node';
import { sdkSources } from '../../demo/sdk-sources.ts';
import { listDestroyables } from '../support/list-destroyables.ts';
import { readPageStyles } from '../support/read-page-styles.ts';
import { parsePresses } from './presses.ts';
import { webDriver } from './webdriver-provider.ts';

/** The browser's name (`firefox` or `webkit`) and path. Set by `npm run test:browsers`. */
const browser = process.env['BROWSER_NAME'] === 'webkit' ? 'webkit' : 'firefox';
const path = process.env['BROWSER_PATH'] ?? '';
const realInput = join(import.meta.dirname, 'real-input.ts');

/** The window's size. The mouse can reach the whole test frame only if the frame fits in the window. */
const size = { width: 1_300, height: 1_000 };

const webKit = webDriver({
  command: ['xvfb-run', '-a', '-s', '-screen 0 1600x1200x24', 'WebKitWebDriver'],
  window: { width: size.width, height: size.height + 150 },
  capabilities: { 'webkitgtk:browserOptions': { binary: path, args: ['--automation'] } },
});
const firefox = playwright({
  launchOptions: { channel: 'moz-firefox', executablePath: path },
  contextOptions: { viewport: size },
});

const webDriverCommands: Record<string, BrowserCommand<never[]>> = {
  clickAt: async ({ webDriverBrowser }, x: number, y: number) =>
    (await webDriverBrowser).click(x, y),
  pressKeys: async ({ webDriverBrowser }, text: string) =>
    (await webDriverBrowser).keys(parsePresses(text)),
};
const playwrightCommands: typeof webDriverCommands = {
  clickAt: ({ page }, x: number, y: number) => page.mouse.click(x, y),
  async pressKeys({ page: { keyboard } }, text: string) {
    for (const { type, key } of parsePresses(text))
      await (type === 'keyDown' ? keyboard.down(key) : keyboard.up(key));
  },
};

export default defineConfig({
  root: join(import.meta.dirname, '..', '..'),
  resolve: { alias: sdkSources, tsconfigPaths: true },
  optimizeDeps: { include: ['eventemitter3', 'idb-keyval', 'phaser', 'phaser3', 'phaser360'] },
  plugins: [withRealInput()],
  test: {
    restoreMocks: true,
    setupFiles: [join(import.meta.dirname, 'skip-tests.ts')],
    provide: {
      skippedTests: JSON.parse(process.env['BROWSER_SKIPPED_TESTS'] ?? '{}'),
      full: true,
      destroyables: listDestroyables(),
      pageStyles: readPageStyles(),
      cocosEngine: '',
    },
    // The same timeout as in the repository's main configuration, so that a busy machine does not cause failures.
    expect: { poll: { timeout: 20_000 } },
    testTimeout: 60_000,
    include: ['test/browser/**/*.test.ts'],
    // The engines need WebGL, which these browsers don't have without a GPU.
    exclude: ['test/browser/engines/exact.test.ts'],
    browser: {
      enabled: true,
      headless: browser === 'firefox',
      screenshotFailures: false,
      instances: [{ browser }],
      provider: browser === 'webkit' ? webKit : firefox,
      commands: browser === 'webkit' ? webDriverCommands : playwrightCommands,
    },
  },
});

/** Resolves a test's import of `vitest/browser` to `real-input.ts`. */
function withRealInput() {
  return {
    name: 'real-input',
    enforce: 'pre' as const,
    resolveId: (id: string, importer?: string) =>
      id === 'vitest/browser' && importer?.includes('/test/browser/') ? realInput : undefined,
  };
}
