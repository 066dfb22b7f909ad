import { createAdPlacement, installAdsbygoogle } from '../ad-placement/index.ts';
import { type Ads, OptionError } from '../index.ts';
import { listen, native } from '../platform/native.ts';
import { unavailableAds } from '../unavailable-ads.ts';
import { findTag } from './find-tag.ts';
import { extendGlobal, startTag } from './start-tag.ts';

declare global {
  interface TruewardGlobal {
    createAdPlacement: typeof createAdPlacement;
    installAdsbygoogle: typeof installAdsbygoogle;
  }
}

const prefix = 'data-placement-';

/**
 * Reads the placements from attributes. `data-placement-reward="revive"` maps ad breaks of type `reward` to the placement
 * `revive`, and `data-placement-treasure-chest` maps those with the name “Treasure Chest”.
 */
const readPlacements = (script: Element): Record<string, string> =>
  Object.fromEntries(
    Array.from(script.attributes, ({ name, value }) => [name, value.trim()] as const)
      .filter(([name, value]) => name.startsWith(prefix) && name !== prefix && value !== '')
      .map(([name, value]) => [name.slice(prefix.length), value]),
  );

const report = (mistake: string): void =>
  reportError(new TypeError(`trueward: the script tag for trueward-ad-placement.js ${mistake}`));

/** Calls `check` when all of the page's scripts have run. */
function whenLoaded(check: () => void): void {
  if (document.readyState === 'complete') native.setTimeout(check, 0);
  else listen(window, 'load', check);
}

function start(script: Element | null): void {
  const placements = script ? readPlacements(script) : {};
  const hasPlacement = Object.keys(placements).length > 0;
  const frequencyHint = script?.getAttribute('data-ad-frequency-hint') ?? undefined;
  const install = (ads: Ads): void => {
    if (!hasPlacement)
      report(
        'has no placement, so ad breaks show no ads. Add `data-placement-interstitial="…"` and ' +
          '`data-placement-reward="…"` to it.',
      );
    installAdsbygoogle(
      createAdPlacement(ads, { placements, ...(frequencyHint !== undefined && { frequencyHint }) }),
    );
  };
  const trueward = extendGlobal({ createAdPlacement, installAdsbygoogle });
  try {
    startTag(script);
  } catch (error) {
    // Games wait for their ad breaks to end, so ad breaks must end even if the SDK can't start.
    reportError(error);
    return install(unavailableAds(error instanceof OptionError ? error.code : 'sdk_error'));
  }
  // Without a key and placements, the page calls `createAds()` and these functions itself.
  if (Array.isArray(trueward.queue) && !hasPlacement) return;
  trueward.queue.push(install);
  whenLoaded(() => {
    if (!Array.isArray(trueward.queue)) return;
    report('has no `data-key`, so ad breaks show no ads. Add your publishable key to it.');
    install(unavailableAds('option_missing'));
  });
}

start(findTag());
