/**
 * Gives Vitest the Playwright of this folder: from 1.65 on it asks Firefox for a command that no release
 * of Firefox has (`emulation.setMediaFeaturesOverride`).
 */
import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';

const playwright = createRequire(import.meta.url).resolve('playwright/package.json');
const index = new URL('index.mjs', pathToFileURL(playwright)).href;
const hooks = `export const resolve = (specifier, context, next) =>
  next(specifier === 'playwright' ? ${JSON.stringify(index)} : specifier, context);`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
