import { defineBrowserProvider } from '@vitest/browser';
import type { BrowserProvider, BrowserProviderOption, TestProject } from 'vitest/node';
import { startWebDriver, type WebDriverBrowser, type WebDriverOptions } from './webdriver.ts';

declare module 'vitest/node' {
  interface BrowserCommandContext {
    webDriverBrowser: Promise<WebDriverBrowser>;
  }
}

/** A Vitest browser provider for browsers that only WebDriver can control. */
export function webDriver(options: WebDriverOptions): BrowserProviderOption {
  return defineBrowserProvider({
    name: 'webdriver',
    providerFactory: (project) => createProvider(project, options),
  });
}

function createProvider(project: TestProject, options: WebDriverOptions): BrowserProvider {
  let webDriverBrowser: Promise<WebDriverBrowser> | undefined;
  const start = () => (webDriverBrowser ??= startWebDriver(options));
  return {
    name: 'webdriver',
    supportsParallelism: false,
    getCommandsContext: () => ({ webDriverBrowser: start() }),
    async openPage(_sessionId, url) {
      const browser = await start();
      project.vitest.logger.log(`In ${browser.name}`);
      await browser.open(url);
    },
    async close() {
      await (await webDriverBrowser)?.close();
    },
  };
}
