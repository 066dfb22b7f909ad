import { defineBrowserProvider } from '@vitest/browser';
import type { BrowserProvider, BrowserProviderOption, TestProject } from 'vitest/node';
import { startWebDriver, type WebDriverBrowser, type WebDriverOptions } from './webdriver.ts';

declare module 'vitest/node' {
  interface BrowserCommandContext {
    driven: Promise<WebDriverBrowser>;
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
  let driven: Promise<WebDriverBrowser> | undefined;
  const start = () => (driven ??= startWebDriver(options));
  return {
    name: 'webdriver',
    supportsParallelism: false,
    getCommandsContext: () => ({ driven: start() }),
    async openPage(_sessionId, url) {
      const browser = await start();
      project.vitest.logger.log(`In ${browser.name}`);
      await browser.open(url);
    },
    async close() {
      await (await driven)?.close();
    },
  };
}
