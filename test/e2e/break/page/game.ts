import {
  type Ads,
  type AdsOptions,
  createAds,
  noEngine,
  type ShowResult,
} from '../../../../src/index.ts';

declare global {
  interface Window {
    breakPage: {
      ads: Ads;
      /** Ads whose consent the game has passed. */
      createWithConsent(): Ads;
      lastResult?: Promise<ShowResult>;
      violations: string[];
    };
  }
}

const canvas = document.querySelector('canvas');
const query = new URLSearchParams(location.search);
const violations: string[] = [];
document.addEventListener('securitypolicyviolation', ({ blockedURI, violatedDirective }) =>
  violations.push(`${violatedDirective} ${blockedURI}`),
);
const createWith = (locale: string | undefined, options: Partial<AdsOptions>): Ads =>
  createAds({
    publishableKey: query.get('key') ?? '',
    serviceUrl: query.get('service') ?? '',
    userRef: 'player-1',
    engine: noEngine(canvas),
    ...(locale !== undefined && { locale }),
    ...(query.has('debug') && { debug: true }),
    ...options,
  });
// Each further locale belongs to another instance.
const [locale, ...otherLocales] = query.getAll('locale');
const ads = createWith(locale, query.has('page-consent') ? { consent: 'page' } : {});
for (const otherLocale of otherLocales) createWith(otherLocale, {});
const createWithConsent = () => createWith(locale, { consent: { status: 'granted' } });
window.breakPage = { ads, createWithConsent, violations };

function show(): void {
  window.breakPage.lastResult = ads.showRewarded(query.get('placement') ?? 'video');
}
document.querySelector('#play')?.addEventListener('click', show);
// Tests without a user gesture rely on this log, because evaluating code in the page would count as a gesture.
ads.on('start', () => console.info('started'));
// Some games show an ad without a user gesture.
if (query.has('immediately')) show();
canvas?.focus();
