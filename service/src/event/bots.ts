import type { Environment } from '../key/key-text.ts';

/** Crawlers and previews say so in their name. */
const crawlers =
  /\bbot\b|[a-z]bot[/;]|googlebot|bingbot|crawl|spider|slurp|facebookexternalhit|embedly|preview|monitoring|lighthouse|pingdom/i;
/** Browsers that nobody looks at, and libraries. */
const automation =
  /headless|phantomjs|electron-prerender|selenium|puppeteer|playwright|python-requests|scrapy|curl\/|wget\/|go-http-client|okhttp\/|libwww/i;

/**
 * Whether the `User-Agent` declares itself as no player. In the sandbox automated browsers are
 * welcome: customers test with them. A bot that lies is not found here.
 */
export function isBot(userAgent: string | undefined, environment: Environment): boolean {
  const name = userAgent?.trim() ?? '';
  if (name === '') return environment === 'live';
  return crawlers.test(name) || (environment === 'live' && automation.test(name));
}
