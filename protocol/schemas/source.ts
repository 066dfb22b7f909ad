import Type from 'typebox';
import { named, oneOf, slug, strictObject, url } from './common.ts';
import { resourceFields, status } from './resource.ts';

/** Creates a schema for an amount of money, in whole millionths of the currency unit and at most 1,000,000 units. */
const micros = (description: string) =>
  Type.Integer({ minimum: 0, maximum: 1_000_000_000_000, description });

/** This member only exists in requests. The object itself has `request_header_names`. */
export const requestHeaders = Type.Object(
  {},
  {
    additionalProperties: Type.String({ pattern: '^[\\x20-\\x7e]{1,4096}$' }),
    propertyNames: { pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$" },
    maxProperties: 20,
    writeOnly: true,
    description:
      '`vast` and `openrtb`: HTTP headers that the service sends with every request, such as an API key. They replace the stored headers, are stored encrypted, and are never returned.',
  },
);

/** The format of a seller's id in ads.txt and sellers.json. */
const sellerId = '^[^\\s,;#]{1,64}$';

export const sourceSchema = named('Source', 'A source of ads.', {
  ...resourceFields('source'),
  name: Type.String({ minLength: 1, maxLength: 200 }),
  kind: oneOf(
    ['house', 'direct', 'vast', 'openrtb'],
    'Ads that you upload (`house`, `direct`), a VAST ad tag, or an OpenRTB bidder.',
  ),
  tag_url: Type.Optional(
    Type.String({
      maxLength: 2_048,
      description:
        '`vast`: the ad tag, an https URL. VAST 4 macros, such as `[CACHEBUSTING]`, are expanded in every request.',
    }),
  ),
  endpoint_url: Type.Optional({ ...url, description: '`openrtb`: the bidder’s https URL.' }),
  ortb_version: Type.Optional(
    oneOf(['2.5', '2.6'], '`openrtb`: the OpenRTB version that the bidder expects; default 2.6.'),
  ),
  ext: Type.Optional(
    Type.Object(
      {},
      {
        additionalProperties: true,
        maxProperties: 100,
        description:
          '`openrtb`: merged into every bid request, such as `{"ext":{"prebid":{"storedrequest":{"id":"…"}}}}` for a Prebid Server; at most 16,384 bytes of JSON.',
      },
    ),
  ),
  publisher_id: Type.Optional(
    Type.String({
      pattern: sellerId,
      description: '`openrtb`: your publisher id with the bidder, sent as `site.publisher.id`.',
    }),
  ),
  supply_chain: Type.Optional(
    Type.Array(
      strictObject({
        asi: Type.String({
          format: 'hostname',
          maxLength: 253,
          description: 'The advertising system’s domain, in lowercase.',
        }),
        sid: Type.String({ pattern: sellerId, description: 'The seller’s id in that system.' }),
      }),
      {
        minItems: 1,
        maxItems: 32,
        description:
          '`openrtb`: every party that handles the payment for an impression before the bidder, starting with you; sent as a complete `source.schain` with `hp: 1` in every node.',
      },
    ),
  ),
  request_header_names: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Set by the service: the names of the stored `request_headers`.',
    }),
  ),
  placements: Type.Optional(
    Type.Array(slug, {
      maxItems: 100,
      uniqueItems: true,
      description:
        '`vast` and `openrtb`: the rewarded and interstitial placements that the source may fill. If absent, it fills none.',
    }),
  ),
  priority: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10,
      description:
        '`vast` and `openrtb`: 1 is requested first; the same scale as for house ads. Default 5.',
    }),
  ),
  cpm_micros: Type.Optional(
    micros(
      '`vast`: what a thousand verified impressions are worth, in millionths of `currency`; default 0. Determines the order of sources with the same priority and counts as revenue.',
    ),
  ),
  floor_micros: Type.Optional(
    micros(
      '`openrtb`: the lowest accepted price per thousand impressions, in millionths of `currency`; default 0.',
    ),
  ),
  currency: Type.Optional(
    Type.String({
      pattern: '^[A-Z]{3}$',
      description: '`vast` and `openrtb`: ISO 4217; default `USD`.',
    }),
  ),
  timeout_ms: Type.Optional(
    Type.Integer({
      minimum: 100,
      maximum: 5_000,
      description:
        '`vast` and `openrtb`: how long the source may take, including wrappers; default 1,000.',
    }),
  ),
  review: Type.Optional(
    oneOf(
      ['manual', 'automatic'],
      '`vast` and `openrtb`: `automatic` approves new creatives of the advertisers in `allowed_domains`; default `manual`.',
    ),
  ),
  allowed_domains: Type.Optional(
    Type.Array(Type.String({ format: 'hostname', maxLength: 253 }), {
      maxItems: 1_000,
      uniqueItems: true,
      description: '`review: automatic`: advertiser domains, including their subdomains.',
    }),
  ),
  impression_on: Type.Optional(
    oneOf(
      ['verified', 'rendered'],
      '`vast` and `openrtb`: when impression trackers are requested; default `verified`. `burl` always waits for the verified impression.',
    ),
  ),
  tracking_window_s: Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: 86_400,
      description:
        '`vast` and `openrtb`: how long after the decision trackers are requested; default 1,800. Trackers that become due later are only counted.',
    }),
  ),
  child_directed: Type.Optional(
    Type.Boolean({
      description:
        '`vast` and `openrtb`: whether the source accepts child-directed requests. By default, it does not, and receives none.',
    }),
  ),
  header_profile: Type.Optional(
    oneOf(
      ['iab', 'forwarded'],
      '`vast` and `openrtb`: which headers pass the player’s IP and browser to trackers: `iab` (default) sends `X-Device-IP` and `X-Device-User-Agent`, `forwarded` sends `X-Forwarded-For` and `User-Agent`.',
    ),
  ),
  ads_txt: Type.Optional(
    strictObject(
      {
        domain: Type.String({
          format: 'hostname',
          maxLength: 253,
          description: 'The root domain of the site with the game.',
        }),
        lines: Type.Array(Type.String({ minLength: 1, maxLength: 500 }), {
          minItems: 1,
          maxItems: 500,
        }),
      },
      {
        description:
          '`vast` and `openrtb`: the lines that the source requires in the site’s `ads.txt`; `trueward-service doctor` checks for these lines, and for the sellers in `publisher_id` and `supply_chain`.',
      },
    ),
  ),
  status,
});
