/**
 * Makes Vitest use the older Playwright that is installed in this folder. Since version 1.65, Playwright sends
 * `emulation.setMediaFeaturesOverride`, a command that no Firefox release supports.
 */
import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';

const playwright = createRequire(import.meta.url).resolve('playwright/package.json');
const index = new URL('index.mjs', pathToFileURL(playwright)).href;
const hooks = `export const resolve = (specifier, context, next) =>
  next(specifier === 'playwright' ? ${JSON.stringify(index)} : specifier, context);`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
