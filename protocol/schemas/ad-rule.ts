import Type from 'typebox';
import { id, line, named, oneOf, ref, slug, strictObject, time } from './common.ts';
import { placementFormat } from './placement.ts';
import { resourceFields } from './resource.ts';

/** The most ads that a rule can count, and that a device remembers. */
const maxCountedAds = 100;

/** More players on one device tell nothing more. */
const maxNamedPlayers = 10;

const count = (period: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxCountedAds,
      description: `The most of these ads that a player sees ${period}.`,
    }),
  );

/** What a rule says. The client applies it too, so that the game knows the answer before it asks. */
const limits = {
  formats: Type.Array(placementFormat, {
    minItems: 1,
    maxItems: 3,
    uniqueItems: true,
    description: 'The formats that the rule holds back and counts.',
  }),
  placements: Type.Optional(
    Type.Array(slug, {
      maxItems: 100,
      uniqueItems: true,
      description: 'The placements that the rule holds back and counts. Default: all.',
    }),
  ),
  segments: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      maxItems: 100,
      uniqueItems: true,
      description:
        'The rule is for players with at least one of these segments. Default: everyone. Not for rewarded ads.',
    }),
  ),
  first_after_s: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 3_600,
      description: 'No ad in the first seconds of a session. Not for rewarded ads.',
    }),
  ),
  gap_s: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 86_400,
      description: 'The least time since the last ad, from impression to impression.',
    }),
  ),
  gap_after: Type.Optional(
    Type.Array(oneOf(['rewarded', 'interstitial']), {
      minItems: 1,
      maxItems: 2,
      uniqueItems: true,
      description:
        'The formats after which `gap_s` applies, in any placement. Default: the ads that the rule counts.',
    }),
  ),
  ad_free_with: Type.Optional(
    line({
      maxLength: 64,
      description:
        'Instead of a limit: players whose wallet has an active timed reward of this type, such as `no_ads`, see none of these ads. Not for rewarded ads.',
    }),
  ),
  max_per_session: count('in a session, which ends after 30 minutes of absence'),
  max_per_hour: count('within 60 minutes'),
  max_per_day: count('within 24 hours'),
};

export const adRuleSchema = named(
  'AdRule',
  'A limit on how many ads a player sees, and how often. All rules that match must allow an ad.',
  {
    ...resourceFields('adRule'),
    ...limits,
    enabled: Type.Boolean({ default: true }),
  },
);

export const adLimitSchema = named('AdLimit', 'An ad rule, as clients receive it.', limits);

export const adLimitsSchema = named('AdLimits', 'All enabled ad rules.', {
  version: Type.String({ description: 'Changes when a rule changes.' }),
  rules: Type.Array(ref('AdLimit')),
});

export const playerSessionSchema = named(
  'PlayerSession',
  'The player’s visit and the ads in it, as the device knows them. A session ends after 30 minutes of absence.',
  {
    age_s: Type.Number({
      minimum: 0,
      maximum: 604_800,
      description: 'Seconds since the session started.',
    }),
    ads: Type.Optional(
      Type.Array(
        strictObject({
          id: id('decision'),
          format: placementFormat,
          placement: slug,
          ago_s: Type.Number({
            minimum: 0,
            maximum: 86_400,
            description: 'Seconds since the ad’s impression.',
          }),
        }),
        {
          maxItems: maxCountedAds,
          description: 'The ads that this device has shown in the last 24 hours.',
        },
      ),
    ),
    players: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxNamedPlayers,
        description:
          'How many players the game has named on this device in the last 24 hours, up to 10. Not stored.',
      }),
    ),
    waiting_rewards: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000,
        description:
          'How many earned rewards have waited on this device for a minute or more, because the game has no handler for them or the handler fails. Not stored.',
      }),
    ),
    rules_version: Type.Optional(
      Type.String({
        maxLength: 64,
        description:
          'The `version` of the rules that the client knows. If it differs, the response contains the rules.',
      }),
    ),
  },
);

const nextAt = Type.Optional(time('The earliest time at which the rules allow this format.'));

export const nextAdAt = Type.Optional(
  Type.Object(
    { rewarded: nextAt, interstitial: nextAt, banner: nextAt },
    {
      additionalProperties: false,
      description:
        'The earliest time at which ad rules for all placements allow the next ad in a format, as far as this request shows. A format without a time doesn’t have to wait, or has to wait for the next session.',
    },
  ),
);
