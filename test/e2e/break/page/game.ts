import { type Ads, createAds, noEngine, type ShowResult } from '../../../../src/index.ts';

declare global {
  interface Window {
    breakPage: { ads: Ads; lastResult?: Promise<ShowResult>; violations: string[] };
  }
}

const canvas = document.querySelector('canvas');
const query = new URLSearchParams(location.search);
const violations: string[] = [];
document.addEventListener('securitypolicyviolation', ({ blockedURI, violatedDirective }) =>
  violations.push(`${violatedDirective} ${blockedURI}`),
);
const locale = query.get('locale');
const ads = createAds({
  publishableKey: query.get('key') ?? '',
  serviceUrl: query.get('service') ?? '',
  userRef: 'player-1',
  engine: noEngine(canvas),
  ...(locale === null ? {} : { locale }),
  ...(query.has('page-consent') && { consent: 'page' }),
});
window.breakPage = { ads, violations };

function show(): void {
  window.breakPage.lastResult = ads.showRewarded(query.get('placement') ?? 'video');
}
document.querySelector('#play')?.addEventListener('click', show);
// Tests without a user gesture rely on this log, because evaluating code in the page would count as a gesture.
ads.on('start', () => console.info('started'));
// Some games show an ad without a user gesture.
if (query.has('immediately')) show();
canvas?.focus();
