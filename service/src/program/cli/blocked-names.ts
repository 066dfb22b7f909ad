/** Host labels and path segments that general filter lists, such as EasyList, block on every site. */
const blockedName =
  /^(ads?|adserv(er|ers|ice|ing)?|advert(s|ising|isements?)?|banners?|sponsors?)\d*$|^ad-?(server|service)/i;

/**
 * Returns the parts of a URL for which ad blockers block its scripts, videos and frames, whatever the site. Such a
 * service loses the players whom it could reach otherwise.
 */
export function findBlockedNames(url: string): string[] {
  if (!URL.canParse(url)) return [];
  const { hostname, pathname } = new URL(url);
  return [...hostname.split('.'), ...pathname.split('/')].filter((name) => blockedName.test(name));
}
