import type { Creative, HouseAd, Media, Placement, Policy, Source } from '@trueward/protocol/wire';
import { instantOf } from '../platform/instant.ts';
import type { FieldError } from '../platform/refused-error.ts';
import type { ResourceKind, Stored } from './resource.ts';

/** What a schema cannot say: rules between the members of one document. Pure. */
export function checkDocument<K extends ResourceKind>(kind: K, document: Stored<K>): FieldError[] {
  switch (kind) {
    case 'placement':
      return checkPlacement(document as Stored<'placement'>);
    case 'source':
      return checkSource(document as Stored<'source'>);
    case 'creative':
      return checkCreative(document as Stored<'creative'>);
    case 'houseAd':
      return checkHouseAd(document as Stored<'houseAd'>);
    case 'policy':
      return checkPolicy(document as Stored<'policy'>);
    default:
      return [];
  }
}

/** The errors whose condition is true. */
const when = (...rules: [boolean, string, string][]): FieldError[] =>
  rules.filter(([wrong]) => wrong).map(([, pointer, message]) => ({ pointer, message }));

const checkPlacement = ({ format, reward }: Pick<Placement, 'format' | 'reward'>): FieldError[] =>
  when(
    [
      format === 'rewarded' && reward === undefined,
      '/reward',
      'is required for a rewarded placement',
    ],
    [format !== 'rewarded' && reward !== undefined, '/reward', 'is for rewarded placements only'],
  );

const checkSource = (source: Pick<Source, 'kind' | 'tag_url' | 'timeout_ms'>): FieldError[] => {
  const vast = source.kind === 'vast';
  return when(
    [vast && source.tag_url === undefined, '/tag_url', 'is required for a VAST source'],
    [vast && !isWebAddress(source.tag_url), '/tag_url', webAddress],
    [!vast && source.tag_url !== undefined, '/tag_url', 'is for VAST sources only'],
    [!vast && source.timeout_ms !== undefined, '/timeout_ms', 'is for VAST sources only'],
  ).slice(0, 1);
};

const checkCreative = ({
  media,
  click_url,
}: Pick<Creative, 'media' | 'click_url'>): FieldError[] => [
  ...when([!isWebAddress(click_url), '/click_url', webAddress]),
  ...checkMedia(media),
];

function checkMedia(media: Media): FieldError[] {
  if (media.format === 'html') {
    return when(
      [
        (media.url === undefined) === (media.inline === undefined),
        '/media',
        'must have exactly one of `url` and `inline`',
      ],
      [!isWebAddress(media.url), '/media/url', webAddress],
    );
  }
  const files = media.files.flatMap(({ url, mime }, index) =>
    when(
      [!isWebAddress(url), `/media/files/${index}/url`, webAddress],
      [
        !mime.startsWith(`${media.format}/`),
        `/media/files/${index}/mime`,
        `must be a type of ${media.format}`,
      ],
    ),
  );
  if (media.format === 'image') return files;
  const captions = (media.captions ?? []).flatMap(({ url }, index) =>
    when([!isWebAddress(url), `/media/captions/${index}/url`, webAddress]),
  );
  return [
    ...files,
    ...captions,
    ...when([!isWebAddress(media.poster), '/media/poster', webAddress]),
  ];
}

const checkHouseAd = ({
  starts_at,
  ends_at,
}: Pick<HouseAd, 'starts_at' | 'ends_at'>): FieldError[] =>
  when([
    starts_at !== undefined && ends_at !== undefined && instantOf(starts_at) >= instantOf(ends_at),
    '/ends_at',
    'must be after `starts_at`',
  ]);

const checkPolicy = ({ block }: Pick<Policy, 'block'>): FieldError[] =>
  when([
    !Object.values(block).some(
      (value) => value === true || (Array.isArray(value) && value.length > 0),
    ),
    '/block',
    'must block something',
  ]);

const webAddress = 'must be an http or https address';

/** `javascript:` in an ad would run in the game's page. */
const isWebAddress = (text: string | undefined): boolean =>
  text === undefined || (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol));
