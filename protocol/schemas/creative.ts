import Type from 'typebox';
import { id, named, oneOf, ref, strictObject, time, url, onBehalfOf } from './common.ts';
import { categories } from './advertiser.ts';
import { resourceFields } from './resource.ts';

const pixels = Type.Integer({ minimum: 1, maximum: 8_192 });

export const mediaFormats = ['video', 'image', 'html'] as const;
export const mediaFormat = oneOf(mediaFormats);

export const mediaFileSchema = named('MediaFile', 'A media file: one rendition of a creative.', {
  url,
  mime: Type.String({
    pattern: '^[a-z]+/[a-z0-9.+-]+(?:; ?codecs="[A-Za-z0-9., -]+")?$',
    maxLength: 100,
  }),
  width: pixels,
  height: pixels,
  bitrate: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100_000_000, description: 'Bits per second.' }),
  ),
});

const files = Type.Array(ref('MediaFile'), { minItems: 1, maxItems: 16 });

/**
 * How long a video may be, in milliseconds. Its viewable impression takes two seconds of playback, and some of it passes
 * until the video is measured: a shorter ad could never earn its reward.
 */
export const videoDurationMs = { minimum: 2_500, maximum: 120_000 } as const;

export const mediaSchema = Type.Union(
  [
    strictObject(
      {
        format: Type.Literal('video'),
        files,
        duration_ms: Type.Integer(videoDurationMs),
        poster: Type.Optional(url),
        captions: Type.Optional(
          Type.Array(
            strictObject({
              url,
              language: Type.String({ maxLength: 35 }),
              label: Type.String({ maxLength: 64 }),
            }),
            { maxItems: 16 },
          ),
        ),
      },
      { title: 'VideoMedia' },
    ),
    strictObject({ format: Type.Literal('image'), files }, { title: 'ImageMedia' }),
    strictObject(
      {
        format: Type.Literal('html'),
        url: Type.Optional(url),
        inline: Type.Optional(Type.String({ minLength: 1, maxLength: 32_768 })),
        width: pixels,
        height: pixels,
      },
      { title: 'HtmlMedia', description: 'Has either `url` or `inline`.' },
    ),
  ],
  { $id: 'Media', description: 'A creative’s media files.' },
);

export const reviewStatus = oneOf(['pending_review', 'approved', 'rejected', 'suspended']);

export const reviewSchema = named(
  'Review',
  'The review of a creative. Only approved creatives are served.',
  {
    status: reviewStatus,
    reason_code: Type.Optional(Type.String({ maxLength: 64 })),
    feedback: Type.Optional(Type.String({ maxLength: 2_000 })),
    reviewed_at: Type.Optional(time('When the review was last changed.')),
    reviewed_by: Type.Optional(
      Type.String({ maxLength: 254, description: 'The user or key that reviewed it.' }),
    ),
    on_behalf_of: Type.Optional(onBehalfOf),
  },
);

export const reviewRequestSchema = named('ReviewRequest', 'Changes the review of a creative.', {
  status: reviewStatus,
  reason_code: Type.Optional(Type.String({ maxLength: 64 })),
  feedback: Type.Optional(Type.String({ maxLength: 2_000 })),
  on_behalf_of: Type.Optional(onBehalfOf),
});

export const creativeSchema = named('Creative', 'An ad.', {
  ...resourceFields('creative'),
  name: Type.String({ minLength: 1, maxLength: 200 }),
  advertiser_id: id('advertiser'),
  source_id: id('source'),
  media: ref('Media'),
  click_url: Type.Optional(url),
  alt: Type.String({
    maxLength: 500,
    description: 'Alternative text for players who cannot see the ad.',
  }),
  categories,
  review: ref('Review'),
  source_key: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'The creative’s id in its external source. Set by the service.',
    }),
  ),
  origin_url: Type.Optional(
    Type.String({
      format: 'uri',
      maxLength: 8_192,
      description:
        'The URL from which an external creative’s media was copied. The service compares its copy with the original daily. Set by the service.',
    }),
  ),
  icons: Type.Optional(
    Type.Array(
      strictObject({
        origin_url: Type.String({
          format: 'uri',
          maxLength: 8_192,
          description: 'The URL from which the icon was copied, without its query string.',
        }),
        url,
        width: pixels,
        height: pixels,
      }),
      {
        maxItems: 8,
        description:
          'Copies of the icons that an external source shows with the creative, such as AdChoices. Set by the service.',
      },
    ),
  ),
});
