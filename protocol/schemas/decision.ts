import Type from 'typebox';
import { nextAdAt } from './ad-rule.ts';
import { id, named, oneOf, pageAdapter, ref, slug, time, url } from './common.ts';
import { mediaFormat, mediaFormats } from './creative.ts';
import { placementFormat } from './placement.ts';

export const unfilledReason = oneOf([
  'ad_free',
  'frequency_capped',
  'cooldown',
  'no_candidates',
  'not_approved',
  'budget',
  'paused',
  'killed',
  'policy',
  'commercial',
  'brand_safety',
  'rate_limited',
  'consent_required',
]);

export const userRef = Type.String({
  pattern: '^[\\x20-\\x7e]{1,128}$',
  description:
    'Your own id for the player: 1 to 128 printable ASCII characters. Returned unchanged.',
});

export const simulate = oneOf(
  ['no_fill', 'blocked', 'killed', 'slow', 'error', 'reward_denied', 'reward_pending'],
  'Forces an outcome. Sandbox only.',
);

export const consentSchema = named(
  'Consent',
  'The player’s consent. If absent, ads are restricted.',
  {
    status: oneOf(['granted', 'denied', 'unknown']),
    tcf_string: Type.Optional(Type.String({ maxLength: 4_096 })),
    gpp_string: Type.Optional(Type.String({ maxLength: 4_096 })),
  },
);

export const decisionRequestSchema = named('DecisionRequest', 'Requests an ad.', {
  placement: slug,
  user_ref: Type.Optional(userRef),
  user_token: Type.Optional(
    Type.String({
      maxLength: 2_048,
      description:
        'Proves the `user_ref`: a short-lived JWT from your server, or the `player_token` of a guest player.',
    }),
  ),
  formats: Type.Optional(
    Type.Array(mediaFormat, {
      minItems: 1,
      maxItems: mediaFormats.length,
      uniqueItems: true,
      description: 'The media formats that the client can show. Default: all formats.',
    }),
  ),
  page_adapters: Type.Optional(
    Type.Array(pageAdapter, {
      maxItems: 8,
      uniqueItems: true,
      description: 'The ad SDKs in the page that are ready to show an ad. Default: none.',
    }),
  ),
  viewport: Type.Optional(
    Type.Object(
      {
        width: Type.Integer({ minimum: 1, maximum: 32_768 }),
        height: Type.Integer({ minimum: 1, maximum: 32_768 }),
      },
      { additionalProperties: false, description: 'CSS pixels.' },
    ),
  ),
  locale: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9]+([-_.@][A-Za-z0-9]+)*$',
      minLength: 2,
      maxLength: 35,
      description:
        'A BCP 47 language tag, or an operating system locale such as `de_DE` or `en-US@posix`.',
    }),
  ),
  device: Type.Optional(
    Type.Object(
      {
        user_agent: Type.Optional(Type.String({ minLength: 1, maxLength: 1_024 })),
        ip: Type.Optional(
          Type.String({ maxLength: 45, description: 'An IPv4 or IPv6 address, without a port.' }),
        ),
        country: Type.Optional(
          Type.String({ pattern: '^[A-Z]{2}$', description: 'An ISO 3166-1 alpha-2 code.' }),
        ),
        language: Type.Optional(
          Type.String({
            pattern: '^[A-Za-z0-9]+([-_][A-Za-z0-9]+)*$',
            minLength: 2,
            maxLength: 35,
            description: 'Used if there is no `locale`.',
          }),
        ),
      },
      {
        additionalProperties: false,
        description:
          'The player’s device, for requests from your server. With a secret key only. Without it, policies by device or country don’t see the player.',
      },
    ),
  ),
  consent: Type.Optional(ref('Consent')),
  child_directed: Type.Optional(Type.Boolean()),
  segments: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      maxItems: 20,
      uniqueItems: true,
      description:
        'The player’s segments in your game, which policy conditions can match. Not stored.',
    }),
  ),
  session: Type.Optional(ref('PlayerSession')),
  custom_data: Type.Optional(
    Type.String({ maxLength: 1_024, description: 'Returned in `decision.rewarded`.' }),
  ),
  simulate: Type.Optional(simulate),
});

export const adIconSchema = named(
  'AdIcon',
  'An image that must be shown in a corner of the ad, such as AdChoices.',
  {
    url,
    width: Type.Integer({
      minimum: 1,
      description: 'CSS pixels. The icon is scaled down if it does not fit.',
    }),
    height: Type.Integer({ minimum: 1, description: 'CSS pixels.' }),
    alt: Type.Optional(Type.String({ description: 'Default: `AdChoices`.' })),
    click_url: Type.Optional(url),
    x: Type.Optional(oneOf(['left', 'right'], 'Default: `right`.')),
    y: Type.Optional(oneOf(['top', 'bottom'], 'Default: `top`.')),
  },
);

export const pageMediaSchema = named(
  'PageMedia',
  'An ad that an ad SDK in the page chooses and shows. If it has none, the client reports an `error` and requests another decision without this adapter.',
  { format: Type.Literal('page'), adapter: pageAdapter },
);

export const decisionCreativeSchema = named('DecisionCreative', 'The ad to show.', {
  id: Type.Optional({
    ...id('creative'),
    description: 'Absent if an ad SDK in the page chooses the ad.',
  }),
  media: Type.Union([ref('Media'), ref('PageMedia')]),
  click_url: Type.Optional(url),
  alt: Type.String(),
  advertiser: Type.Optional(
    Type.String({
      description:
        'The advertiser’s name, or its domain if the name is unknown. Present if the ad is from an external source.',
    }),
  ),
  icon: Type.Optional(ref('AdIcon')),
  skip_after_ms: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'How long the ad must play before the player can skip it. If absent, the player cannot skip the ad.',
    }),
  ),
});

export const explanationSchema = named(
  'Explanation',
  'The result for a candidate, and the reason.',
  {
    house_ad_id: Type.Optional(id('houseAd')),
    creative_id: Type.Optional(id('creative')),
    source_id: Type.Optional(id('source')),
    ad_rule_id: Type.Optional(id('adRule')),
    name: Type.String(),
    verdict: Type.String({
      description: '`chosen`, or the reason why the candidate was not chosen.',
    }),
    ms: Type.Optional(
      Type.Integer({ minimum: 0, description: 'How long the source took to respond.' }),
    ),
    http_status: Type.Optional(
      Type.Integer({ description: 'The HTTP status of the source’s last response.' }),
    ),
    vast_error: Type.Optional(
      Type.Integer({ description: 'The VAST error code that the service reported to the source.' }),
    ),
  },
);

export const decisionSchema = named('Decision', 'The response to an ad request.', {
  id: id('decision'),
  status: oneOf(['filled', 'no_fill', 'blocked']),
  reason: Type.Optional(unfilledReason),
  retry_at: Type.Optional(time('The earliest time at which another request may be filled.')),
  next_ad_at: nextAdAt,
  ad_rules: Type.Optional(ref('AdLimits')),
  placement: slug,
  format: placementFormat,
  creative: Type.Optional(ref('DecisionCreative')),
  reward: Type.Optional(ref('Reward')),
  min_watch_ms: Type.Optional(
    Type.Integer({ description: 'The watch time required to earn the reward.' }),
  ),
  close_after_ms: Type.Optional(Type.Integer()),
  token: Type.Optional(
    Type.String({
      description: 'The decision token. Every event reported for this decision must include it.',
    }),
  ),
  issued_at: time('When the service made the decision.'),
  expires_at: time('When the decision expires. The ad must not be shown after this time.'),
  explain: Type.Optional(Type.Array(ref('Explanation'), { description: 'Sandbox only.' })),
  mistakes: Type.Optional(
    Type.Array(ref('Mistake'), {
      description:
        'Sandbox only: what is probably wrong with the integration, as `GET /v1/mistakes` says. The SDK tells the developer.',
    }),
  ),
});
