import Type from 'typebox';
import { named, oneOf, pageAdapter, ref, slug, strictObject, url } from './common.ts';
import { resourceFields, status } from './resource.ts';

/** Creates a schema for an amount of money in micros (millionths of the currency unit), up to 1,000,000 units. */
const micros = (description: string) =>
  Type.Integer({ minimum: 0, maximum: 1_000_000_000_000, description });

const headerName = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$";

/** A field that exists only in requests. The source itself has `request_header_names`. */
export const requestHeaders = Type.Object(
  {},
  {
    additionalProperties: Type.String({ pattern: '^[\\x20-\\x7e]{1,4096}$' }),
    propertyNames: { pattern: headerName },
    maxProperties: 20,
    writeOnly: true,
    description:
      '`vast` and `openrtb`: HTTP headers that the service sends with every request, such as an API key. They replace all stored headers. Stored encrypted, and never returned.',
  },
);

const callbackFields = {
  decision_parameter: Type.String({
    pattern: '^[A-Za-z0-9_.-]{1,64}$',
    default: 'decision_id',
    description: 'The parameter in which the network returns the decision’s id.',
  }),
  signature_header: Type.Optional(
    Type.String({
      pattern: headerName,
      description:
        'The header with the HMAC-SHA256 of the request in hexadecimal, by the secret: of the body if there is one, otherwise of the query string with its parameters in alphabetical order. Default: none. The request then carries the secret itself, as the parameter `key`.',
    }),
  ),
};

export const sourceCallbackSchema = named(
  'SourceCallback',
  'How an ad network’s server confirms a view, with a request to `/v1/source-callbacks/{id}`.',
  callbackFields,
);

export const sourceCallbackRequestSchema = named(
  'SourceCallbackRequest',
  'Lets an ad network’s server confirm views.',
  {
    ...callbackFields,
    secret: Type.Optional(
      Type.String({
        pattern: '^[\\x21-\\x7e]{16,256}$',
        description:
          'The secret that the network shares with you, 16 to 256 printable characters without spaces. Default: a new one. Replaces the previous one at once.',
      }),
    ),
  },
);

export const sourceCallbackSecretSchema = named(
  'SourceCallbackSecret',
  'What to enter at the ad network.',
  {
    url: Type.String({ description: 'The URL that the network’s server has to call.' }),
    secret: Type.Optional(
      Type.String({ description: 'Returned only once, and not when the response is replayed.' }),
    ),
  },
);

/** The seller id format in ads.txt and sellers.json. */
const sellerId = '^[^\\s,;#]{1,64}$';

export const sourceSchema = named('Source', 'A source of ads.', {
  ...resourceFields('source'),
  name: Type.String({ minLength: 1, maxLength: 200 }),
  kind: oneOf(
    ['house', 'direct', 'vast', 'openrtb', 'page'],
    'Ads that you upload (`house`, `direct`), a VAST ad tag, an OpenRTB bidder, or an ad SDK in the player’s page.',
  ),
  adapter: Type.Optional({
    ...pageAdapter,
    description: '`page`: `google_h5`, or `custom:` and the name of your own adapter.',
  }),
  callback: Type.Optional({
    ...ref('SourceCallback'),
    description:
      '`page`: how the network confirms each view. Set by `POST /v1/sources/{id}/callback`. Rewards of the source then wait for the confirmation, and their evidence is `source_attested`.',
  }),
  tag_url: Type.Optional(
    Type.String({
      maxLength: 2_048,
      description:
        '`vast`: the ad tag, an https URL. The service expands VAST 4 macros, such as `[CACHEBUSTING]`.',
    }),
  ),
  endpoint_url: Type.Optional({ ...url, description: '`openrtb`: the bidder’s https URL.' }),
  ortb_version: Type.Optional(
    oneOf(['2.5', '2.6'], '`openrtb`: the OpenRTB version that the bidder expects. Default: 2.6.'),
  ),
  ext: Type.Optional(
    Type.Object(
      {},
      {
        additionalProperties: true,
        maxProperties: 100,
        description:
          '`openrtb`: an object that is merged into every bid request, such as `{"ext":{"prebid":{"storedrequest":{"id":"…"}}}}` for a Prebid Server. Maximum: 16,384 bytes of JSON.',
      },
    ),
  ),
  publisher_id: Type.Optional(
    Type.String({
      pattern: sellerId,
      description: '`openrtb`: your publisher id at the bidder. Sent as `site.publisher.id`.',
    }),
  ),
  supply_chain: Type.Optional(
    Type.Array(
      strictObject({
        asi: Type.String({
          format: 'hostname',
          maxLength: 253,
          description: 'The domain of the advertising system, in lowercase.',
        }),
        sid: Type.String({
          pattern: sellerId,
          description: 'The seller’s account id in that system.',
        }),
      }),
      {
        minItems: 1,
        maxItems: 32,
        description:
          '`openrtb`: all parties that handle the payment for an impression before the bidder, starting with you. Sent as a complete `source.schain` with `hp: 1` in every node.',
      },
    ),
  ),
  request_header_names: Type.Optional(
    Type.Array(Type.String(), {
      description: 'The names of the stored `request_headers`. Set by the service.',
    }),
  ),
  placements: Type.Optional(
    Type.Array(slug, {
      maxItems: 100,
      uniqueItems: true,
      description:
        '`vast`, `openrtb` and `page`: the rewarded and interstitial placements that the source may fill. Default: none.',
    }),
  ),
  priority: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10,
      description:
        '`vast`, `openrtb` and `page`: the priority of the source, on the same scale as for house ads. 1 is the highest. Default: 5.',
    }),
  ),
  cpm_micros: Type.Optional(
    micros(
      '`vast`: the value of a thousand verified impressions, in millionths of `currency`. Determines the order of sources with the same priority, and the revenue in reports. Default: 0.',
    ),
  ),
  floor_micros: Type.Optional(
    micros(
      '`openrtb`: the minimum price per thousand impressions, in millionths of `currency`. Default: 0.',
    ),
  ),
  currency: Type.Optional(
    Type.String({
      pattern: '^[A-Z]{3}$',
      description: '`vast` and `openrtb`: an ISO 4217 code. Default: `USD`.',
    }),
  ),
  timeout_ms: Type.Optional(
    Type.Integer({
      minimum: 100,
      maximum: 5_000,
      description:
        '`vast` and `openrtb`: the timeout for the source, including wrappers. Default: 1,000.',
    }),
  ),
  review: Type.Optional(
    oneOf(
      ['manual', 'automatic'],
      '`vast` and `openrtb`: `automatic` approves new creatives of the advertisers in `allowed_domains`. Default: `manual`.',
    ),
  ),
  allowed_domains: Type.Optional(
    Type.Array(Type.String({ format: 'hostname', maxLength: 253 }), {
      maxItems: 1_000,
      uniqueItems: true,
      description:
        'For `review: automatic`: domains of advertisers. Each domain includes its subdomains.',
    }),
  ),
  impression_on: Type.Optional(
    oneOf(
      ['verified', 'rendered'],
      '`vast` and `openrtb`: which impression triggers impression trackers. `burl` always requires the verified impression. Default: `verified`.',
    ),
  ),
  tracking_window_s: Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: 86_400,
      description:
        '`vast` and `openrtb`: how long after the decision trackers may be requested. Trackers that become due later are only counted. Default: 1,800.',
    }),
  ),
  child_directed: Type.Optional(
    Type.Boolean({
      description:
        '`vast`, `openrtb` and `page`: whether the source receives child-directed requests. Default: `false`.',
    }),
  ),
  header_profile: Type.Optional(
    oneOf(
      ['iab', 'forwarded'],
      '`vast` and `openrtb`: the headers that contain the player’s IP and User-Agent in requests to trackers. `iab` means `X-Device-IP` and `X-Device-User-Agent`, `forwarded` means `X-Forwarded-For` and `User-Agent`. Default: `iab`.',
    ),
  ),
  ads_txt: Type.Optional(
    strictObject(
      {
        domain: Type.String({
          format: 'hostname',
          maxLength: 253,
          description: 'The root domain of the game’s site.',
        }),
        lines: Type.Array(Type.String({ minLength: 1, maxLength: 500 }), {
          minItems: 1,
          maxItems: 500,
        }),
      },
      {
        description:
          '`vast` and `openrtb`: the lines that the source requires in the site’s `ads.txt`. `trueward-service doctor` checks the file for these lines, and for the sellers in `publisher_id` and `supply_chain`.',
      },
    ),
  ),
  status,
});
