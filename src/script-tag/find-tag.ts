import { findCurrentScript } from '../platform/native.ts';

/**
 * Returns the tag that has loaded this file. In a module, `document.currentScript` is null, so this finds the page's
 * module tag with a key or a portal.
 */
export const findTag = (): Element | null =>
  findCurrentScript() ??
  document.querySelector('script[type="module"]:is([data-key], [data-portal])');
