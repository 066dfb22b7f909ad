/** Maximum URL length. Browsers and servers accept URLs of up to about this length. */
const maxUrlLength = 8_192;

/**
 * Parses an absolute http or https URL without credentials. Returns undefined for all other URLs, such as `javascript:`
 * and `about:blank`. Macros are not expanded.
 *
 * @param base the base for relative URLs; without a base, relative URLs are rejected
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

/** Removes the query string, so that the URL identifies the file. Ad servers add cache busters to the query string. */
export function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

export const isHttps = (url: string): boolean => url.startsWith('https:');

/** Like `encodeURIComponent`, but replaces a lone surrogate with U+FFFD instead of throwing. */
export const encodeComponent = (text: string): string =>
  encodeURIComponent(Buffer.from(text).toString());
