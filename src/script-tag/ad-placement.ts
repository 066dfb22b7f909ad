import { createAdPlacement, installAdsbygoogle } from '../ad-placement/index.ts';
import { type Ads, OptionError } from '../index.ts';
import { unavailableAds } from '../unavailable-ads.ts';
import { extendGlobal, findTag, startTag } from './start-tag.ts';

declare global {
  interface TruewardGlobal {
    createAdPlacement: typeof createAdPlacement;
    installAdsbygoogle: typeof installAdsbygoogle;
  }
}

const prefix = 'data-placement-';

/**
 * Reads the placements from attributes. `data-placement-reward="revive"` maps ad breaks with the type or name `reward`
 * to the placement `revive`.
 */
const readPlacements = (script: Element): Record<string, string> =>
  Object.fromEntries(
    Array.from(script.attributes)
      .filter(({ name }) => name.startsWith(prefix))
      .map(({ name, value }) => [name.slice(prefix.length), value]),
  );

function start(script: Element | null): void {
  const placements = script ? readPlacements(script) : {};
  const install = (ads: Ads): void => {
    if (Object.keys(placements).length === 0) {
      reportError(
        new TypeError(
          'trueward: the script tag for trueward-ad-placement.js has no placement, so ad breaks show no ads. Add ' +
            '`data-placement-interstitial="…"` and `data-placement-reward="…"` to it.',
        ),
      );
    }
    installAdsbygoogle(createAdPlacement(ads, { placements }));
  };
  try {
    startTag(script);
  } catch (error) {
    // Games wait for their ad breaks to end, so ad breaks must end even if the SDK can't start.
    reportError(error);
    install(unavailableAds(error instanceof OptionError ? error.code : 'sdk_error'));
  }
  // If the script tag has no key, the page calls `createAds()` and these functions itself.
  const { queue } = extendGlobal({ createAdPlacement, installAdsbygoogle });
  if (!Array.isArray(queue)) queue.push(install);
}

start(findTag());
