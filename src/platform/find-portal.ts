/** The name of a portal whose ads the SDK can show. `google_h5` is for your own site, with Google’s H5 games ads. */
export type PortalName =
  | 'crazygames'
  | 'poki'
  | 'gamedistribution'
  | 'gamesnacks'
  | 'yandex'
  | 'facebook'
  | 'youtube'
  | 'google_h5';

/** Matches one of the labels in an address, as in `https://poki.com` or `1234.poki-gdn.com`. */
const site = /[./,](crazygames|poki|gamedistribution|gamesnacks|yandex|facebook|youtube)[.-]/;

/**
 * Returns the portal that this page belongs to, according to its address, the pages around it, and the scripts that every
 * game on a portal must have. Returns undefined for any other page.
 */
export function findPortal(): PortalName | undefined {
  const { location } = globalThis as Partial<typeof globalThis>;
  // Firefox doesn't list the pages around this one.
  const pages = `,${location?.host},${Array.from(location?.ancestorOrigins ?? []).join()}`;
  const has = (name: string): boolean => Object.hasOwn(globalThis, name);
  return (
    (site.exec(pages)?.[1] as PortalName | undefined) ??
    (has('ytgame')
      ? 'youtube'
      : has('FBInstant')
        ? 'facebook'
        : has('GameSnacks')
          ? 'gamesnacks'
          : undefined)
  );
}
