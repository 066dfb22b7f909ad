import type { Environment } from '../key/key-text.ts';

/** Crawlers and link previews that identify themselves. */
const crawlerPattern =
  /\bbot\b|[a-z]bot[/;]|googlebot|bingbot|crawl|spider|slurp|facebookexternalhit|embedly|preview|monitoring|lighthouse|pingdom/i;
/** Headless browsers and HTTP libraries. */
const automationPattern =
  /headless|phantomjs|electron-prerender|selenium|puppeteer|playwright|python-requests|scrapy|curl\/|wget\/|go-http-client|okhttp\/|libwww/i;

/**
 * Whether the `User-Agent` identifies a bot. The sandbox accepts automated browsers, because developers test with them.
 * Does not detect bots with a fake `User-Agent`.
 */
export function isBot(userAgent: string | undefined, environment: Environment): boolean {
  const name = userAgent?.trim() ?? '';
  if (name === '') return environment === 'live';
  return crawlerPattern.test(name) || (environment === 'live' && automationPattern.test(name));
}
