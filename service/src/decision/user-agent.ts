import type { Environment } from '../access/principal.ts';

/** Self-identified crawlers and link-preview bots. */
const crawlerPattern =
  /\bbot\b|[a-z]bot[/;]|googlebot|bingbot|crawl|spider|slurp|facebookexternalhit|embedly|preview|monitoring|lighthouse|pingdom/i;
/** Headless browsers and HTTP libraries. */
const automationPattern =
  /headless|phantomjs|electron-prerender|selenium|puppeteer|playwright|python-requests|scrapy|curl\/|wget\/|go-http-client|okhttp\/|libwww/i;

/** How much of a `User-Agent` is read. Browsers send at most 250 characters, but a client may send 16 kB. */
export const maxUserAgentLength = 512;

/**
 * Whether the `User-Agent` identifies a bot. The sandbox accepts automated browsers, because developers test with them.
 * Does not detect bots that spoof their `User-Agent`.
 */
export function isBot(userAgent: string | undefined, environment: Environment): boolean {
  const name = userAgent?.slice(0, maxUserAgentLength).trim() ?? '';
  if (name === '') return environment === 'live';
  return crawlerPattern.test(name) || (environment === 'live' && automationPattern.test(name));
}

type Device = 'desktop' | 'mobile' | 'tablet';

/** Returns the device class according to the `User-Agent`, or undefined if there is none. Takes linear time. */
export function detectDevice(userAgent: string | undefined): Device | undefined {
  if (userAgent === undefined) return undefined;
  const name = userAgent.slice(0, maxUserAgentLength);
  if (/iPad|Tablet/i.test(name)) return 'tablet';
  if (/Android/i.test(name)) return /Mobile/i.test(name) ? 'mobile' : 'tablet';
  return /Mobi|iPhone/i.test(name) ? 'mobile' : 'desktop';
}
