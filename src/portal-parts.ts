/**
 * Import the code for portals and for ad SDKs in the page, which most games never need. Script tags have it in a file of
 * their own: `script-tag/portal-parts.ts` takes the place of this module.
 */
export const importPortal = () => import('./portal/connect-portal.ts');
export const importPageAds = () => import('./portal/connect-page-ads.ts');
