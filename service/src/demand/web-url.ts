/** Characters; browsers and servers accept about that much. */
const maxUrlLength = 8_192;

/**
 * An absolute http or https URL without credentials; undefined for anything else, such as `javascript:`
 * and `about:blank`. Macros stay in place.
 *
 * @param base resolves relative URLs; without it they are rejected
 */
export function parseWebUrl(text: string | undefined, base?: string): string | undefined {
  if (!text || text.length > maxUrlLength) return undefined;
  const candidate = text.startsWith('//') ? `https:${text}` : text;
  if (!URL.canParse(candidate, base)) return undefined;
  const url = new URL(candidate, base);
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  if (!isWeb || url.username !== '' || url.password !== '') return undefined;
  return url.href.length > maxUrlLength ? undefined : url.href;
}

/** Ad servers add a number to the query so that caches are bypassed: what identifies a file comes before it. */
export function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

export const isHttps = (url: string): boolean => url.startsWith('https:');

/** Like `encodeURIComponent`, which throws on half of a surrogate pair: that becomes U+FFFD. */
export const encodeComponent = (text: string): string =>
  encodeURIComponent(Buffer.from(text).toString());
