import { listen } from '../platform/native.ts';
import type { connectPageAds } from '../portal/connect-page-ads.ts';
import type { connectPortal } from '../portal/connect-portal.ts';
import { findTag } from './find-tag.ts';

/** What `portals.ts` hands over. */
export interface PortalParts {
  connectPageAds: typeof connectPageAds;
  connectPortal: typeof connectPortal;
}

/** The event on the script element with which `portals.ts` hands over its parts. */
export const partsEvent = 'trueward-portals';
const fileName = 'trueward-portals.js';
/** The hash of that file, which the build fills in. */
declare const portalsIntegrity: string;

// Known only while this file runs.
const tag = findTag() as Partial<HTMLScriptElement> | null;

/**
 * Loads the file from the folder of the tag's own file, with the same protection: its hash is checked if the tag has one,
 * and a content security policy that admits the tag admits it too.
 */
const loadFile = (): Promise<PortalParts> =>
  new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = new URL(fileName, tag?.src || document.baseURI).href;
    script.crossOrigin = tag?.crossOrigin ?? null;
    script.nonce = tag?.nonce ?? '';
    if (tag?.integrity) script.integrity = portalsIntegrity;
    listen<CustomEvent<PortalParts>>(script, partsEvent, ({ detail }) => resolve(detail));
    const finish = (): void => {
      script.remove();
      // Unless the parts have been handed over by now.
      reject(new Error(`${fileName} must be in the same folder as the script tag’s file`));
    };
    listen(script, 'load', finish);
    listen(script, 'error', finish);
    document.head.append(script);
  });

/** Take the place of the functions in `src/portal-parts.ts`. */
export const importPortal = loadFile;
export const importPageAds = loadFile;
