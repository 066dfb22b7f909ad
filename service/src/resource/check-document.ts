import type { Creative, HouseAd, Media, Placement, Policy } from '@trueward/protocol/wire';
import type { Environment } from '../access/principal.ts';
import { requireInstant } from '../platform/time.ts';
import { checkAdRule } from './check-ad-rule.ts';
import { checkPlacement } from './check-placement.ts';
import { errorsWhere, type FieldError } from '../platform/domain-error.ts';
import type { Queries, Scope } from '../store/database.ts';
import type { ResourceKind, Stored } from './resource.ts';

/** Checks an external source's members, including the URLs that the service will request. Returns the violations. */
export type CheckSource = (source: Stored<'source'>, environment: Environment) => FieldError[];

/** Checks a document against the rules that the schema can't express. Returns the violations. */
export function checkDocument<K extends ResourceKind>(
  kind: K,
  document: Stored<K>,
  checkSource: (source: Stored<'source'>) => FieldError[],
): FieldError[] {
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
    case 'adRule':
      return checkAdRule(document as Stored<'adRule'>);
    default:
      return [];
  }
}

const checkCreative = ({
  media,
  click_url,
}: Pick<Creative, 'media' | 'click_url'>): FieldError[] => [
  ...errorsWhere([!isWebUrl(click_url), '/click_url', webUrlRule]),
  ...checkMedia(media),
];

function checkMedia(media: Media): FieldError[] {
  if (media.format === 'html') {
    return errorsWhere(
      [
        (media.url === undefined) === (media.inline === undefined),
        '/media',
        'must have exactly one of `url` and `inline`',
      ],
      [!isWebUrl(media.url), '/media/url', webUrlRule],
    );
  }
  const files = media.files.flatMap(({ url, mime }, index) =>
    errorsWhere(
      [!isWebUrl(url), `/media/files/${index}/url`, webUrlRule],
      [
        !mime.startsWith(`${media.format}/`),
        `/media/files/${index}/mime`,
        `must be a media type that starts with ${media.format}/`,
      ],
    ),
  );
  if (media.format === 'image') return files;
  const captions = (media.captions ?? []).flatMap(({ url }, index) =>
    errorsWhere([!isWebUrl(url), `/media/captions/${index}/url`, webUrlRule]),
  );
  return [
    ...files,
    ...captions,
    ...errorsWhere([!isWebUrl(media.poster), '/media/poster', webUrlRule]),
  ];
}

const checkHouseAd = ({
  starts_at,
  ends_at,
}: Pick<HouseAd, 'starts_at' | 'ends_at'>): FieldError[] =>
  errorsWhere([
    starts_at !== undefined &&
      ends_at !== undefined &&
      requireInstant(starts_at) >= requireInstant(ends_at),
    '/ends_at',
    'must be after `starts_at`',
  ]);

const checkPolicy = ({ block }: Pick<Policy, 'block'>): FieldError[] =>
  errorsWhere([
    !Object.values(block).some(
      (value) => value === true || (Array.isArray(value) && value.length > 0),
    ),
    '/block',
    'must block something',
  ]);

const webUrlRule = 'must be an http or https URL';

/** Whether a URL is safe to use in an ad. For example, a `javascript:` URL would run a script in the game's page. */
const isWebUrl = (text: string | undefined): boolean =>
  text === undefined || (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol));

/** A reference from a document to another object. */
interface Reference {
  pointer: string;
  kind: ResourceKind;
  /** The referenced object's id. Placements are referenced by name. Kill switches can also reference them by id. */
  name: string;
  /** The formats that a placement may have. Default: all. */
  formats?: readonly Placement['format'][];
}

/** Returns a document's references to other objects. */
export function listReferences<K extends ResourceKind>(kind: K, document: Stored<K>): Reference[] {
  switch (kind) {
    case 'creative': {
      const { advertiser_id, source_id } = document as Stored<'creative'>;
      return [
        { pointer: '/advertiser_id', kind: 'advertiser', name: advertiser_id },
        { pointer: '/source_id', kind: 'source', name: source_id },
      ];
    }
    case 'source': {
      const { placements } = document as Stored<'source'>;
      return withFormats(['rewarded', 'interstitial'], placements);
    }
    case 'houseAd': {
      const { creative_id, placements } = document as Stored<'houseAd'>;
      return [
        { pointer: '/creative_id', kind: 'creative', name: creative_id },
        ...referencesAt('/placements', 'placement', placements),
      ];
    }
    case 'policy': {
      const { placements, block } = document as Stored<'policy'>;
      return [
        ...referencesAt('/placements', 'placement', placements),
        ...referencesAt('/block/advertisers', 'advertiser', block.advertisers),
        ...referencesAt('/block/sources', 'source', block.sources),
      ];
    }
    case 'adRule': {
      const { formats, placements } = document as Stored<'adRule'>;
      return withFormats(formats, placements);
    }
    case 'killSwitch': {
      const { scope, target_id } = document as Stored<'killSwitch'>;
      return [{ pointer: '/target_id', kind: scope, name: target_id }];
    }
    default:
      return [];
  }
}

const referencesAt = (
  pointer: string,
  kind: ResourceKind,
  names: readonly string[] = [],
): Reference[] => names.map((name, index) => ({ pointer: `${pointer}/${index}`, kind, name }));

/** References to placements, each of which must have one of these formats. */
const withFormats = (
  formats: readonly Placement['format'][],
  placements: readonly string[] | undefined,
): Reference[] =>
  referencesAt('/placements', 'placement', placements).map((reference) => ({
    ...reference,
    formats,
  }));

/** Checks whether the objects exist in the environment and may be referenced. Returns the violations. */
export async function checkReferences(
  queries: Queries,
  scope: Scope,
  references: readonly Reference[],
): Promise<FieldError[]> {
  if (references.length === 0) return [];
  const rows = await queries.query<{
    kind: ResourceKind;
    id: string;
    name: string | null;
    format: Placement['format'] | null;
  }>(
    `SELECT kind, id, document->>'name' AS name, document->>'format' AS format FROM resources
      WHERE account_id = $1 AND environment = $2 AND archived_at IS NULL
        AND kind IN (SELECT jsonb_array_elements_text($3::text::jsonb))
        AND (id IN (SELECT jsonb_array_elements_text($4::text::jsonb))
          OR (kind = 'placement' AND document->>'name' IN (SELECT jsonb_array_elements_text($4::text::jsonb))))`,
    [
      scope.accountId,
      scope.environment,
      JSON.stringify([...new Set(references.map(({ kind }) => kind))]),
      JSON.stringify([...new Set(references.map(({ name }) => name))]),
    ],
  );
  return references.flatMap(({ pointer, kind, name, formats }) => {
    const match = rows.find(
      (row) =>
        row.kind === kind && (row.id === name || (kind === 'placement' && row.name === name)),
    );
    if (!match) return [{ pointer, message: `refers to no ${kind} in this environment` }];
    if (!formats || match.format === null || formats.includes(match.format)) return [];
    return [
      {
        pointer,
        message: `is a ${match.format} placement; this is for ${formats.join(' and ')} placements`,
      },
    ];
  });
}

/**
 * SQL conditions that find references to the object with the id `$3` and the name `$4`, by the object's kind. A rule that
 * stops an advertiser keeps it: its next ad from outside would otherwise come under a new advertiser, which nothing stops.
 */
const referrerConditions: Partial<Record<ResourceKind, string>> = {
  advertiser: `(kind = 'creative' AND document->>'advertiser_id' = $3
    OR kind = 'policy' AND document->'block'->'advertisers' ? $3
    OR kind = 'killSwitch' AND document->>'state' = 'on' AND document->>'target_id' = $3)`,
  source: `kind = 'creative' AND document->>'source_id' = $3`,
  creative: `kind = 'houseAd' AND document->>'creative_id' = $3`,
  placement: `kind IN ('houseAd', 'policy', 'source', 'adRule') AND document->'placements' ? $4`,
};

/** Returns the id of an object that refers to this object, or undefined if there is none. */
export async function findReferrer(
  queries: Queries,
  scope: Scope,
  kind: ResourceKind,
  { id, name }: { id: string; name: string },
): Promise<string | undefined> {
  const condition = referrerConditions[kind];
  if (condition === undefined) return undefined;
  const [row] = await queries.query<{ id: string }>(
    `SELECT id FROM resources
      WHERE account_id = $1 AND environment = $2 AND archived_at IS NULL
        AND ($3::text IS NOT NULL) AND ($4::text IS NOT NULL) AND ${condition} LIMIT 1`,
    [scope.accountId, scope.environment, id, name],
  );
  return row?.id;
}

/** Lists the placement's settings that depend on earlier decisions, each with its lookback period. */
const listLookbacks = (
  placement: Pick<Placement, 'frequency_cap' | 'cooldown_s' | 'late_window_s' | 'page_reward_cap'>,
): [pointer: string, ms: number][] => [
  ['/frequency_cap/per_s', (placement.frequency_cap?.per_s ?? 0) * 1_000],
  ['/cooldown_s', placement.cooldown_s * 1_000],
  ['/late_window_s', placement.late_window_s * 1_000],
  ['/page_reward_cap/per_s', (placement.page_reward_cap?.per_s ?? 0) * 1_000],
];

const dayMs = 86_400_000;

/**
 * Returns errors for members whose lookback period is longer than the retention period.
 *
 * @param retentionMs undefined if decisions are kept forever
 */
export function checkRetention(
  placement: Parameters<typeof listLookbacks>[0],
  retentionMs: number | undefined,
): FieldError[] {
  if (retentionMs === undefined) return [];
  const retention = `decisions are deleted after ${retentionMs / dayMs} days (the account's retention, or the service's RETENTION_DAYS)`;
  return listLookbacks(placement)
    .filter(([, ms]) => ms > retentionMs)
    .map(([pointer]) => ({
      pointer,
      message: `must be at most ${Math.floor(retentionMs / 1_000)}: ${retention}`,
    }));
}

/**
 * Returns errors if an account's placements look back longer than the account is going to keep its decisions.
 *
 * @param retentionMs undefined if decisions are kept forever
 */
export async function checkLookbacks(
  queries: Pick<Queries, 'query'>,
  accountId: string,
  retentionMs: number | undefined,
): Promise<FieldError[]> {
  if (retentionMs === undefined) return [];
  const strictest = await findStrictest(queries, accountId);
  if (!strictest || strictest.ms <= retentionMs) return [];
  const days = Math.ceil(strictest.ms / dayMs);
  const message = `must be at least ${days}, because the ${strictest.environment} placement ${strictest.name} looks back so many days, for its caps or late completions`;
  return [{ pointer: '/decision_days', message }];
}

/** Finds the placement that looks back the longest. */
async function findStrictest(
  queries: Pick<Queries, 'query'>,
  accountId?: string,
): Promise<{ environment: Environment; name: string; ms: number } | undefined> {
  const rows = await queries.query<{ environment: Environment; document: Placement }>(
    `SELECT environment, document FROM resources
      WHERE kind = 'placement' AND archived_at IS NULL AND ($1::text IS NULL OR account_id = $1)`,
    [accountId ?? null],
  );
  const lookbacks = rows.map(({ environment, document }) => ({
    environment,
    name: document.name,
    ms: Math.max(...listLookbacks(document).map(([, ms]) => ms)),
  }));
  return lookbacks.toSorted((a, b) => b.ms - a.ms)[0];
}

/** Thrown when `RETENTION_DAYS` is too short for a placement's caps or late window. */
export class RetentionError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RetentionError';
  }
}

/**
 * Checks that the retention period is long enough for every placement. Must be called at startup, before expired
 * decisions are deleted.
 *
 * @throws RetentionError when the period is too short. The message contains the required value.
 */
export async function rejectShortRetention(
  queries: Queries,
  retentionMs: number | undefined,
): Promise<void> {
  if (retentionMs === undefined) return;
  const strictest = await findStrictest(queries);
  if (!strictest || strictest.ms <= retentionMs) return;
  const days = Math.ceil(strictest.ms / dayMs);
  throw new RetentionError(
    `RETENTION_DAYS is ${retentionMs / dayMs}, but the ${strictest.environment} placement ${strictest.name} looks back ${days} days, for its caps or late completions. Set RETENTION_DAYS to ${days} or more, or to forever.`,
  );
}
