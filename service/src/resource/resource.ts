import type {
  AdRule,
  Advertiser,
  Creative,
  HouseAd,
  KillSwitch,
  Placement,
  Policy,
  Source,
  Webhook,
  Review,
} from '@trueward/protocol/wire';

/** The document types of managed objects, by kind. */
export interface ResourceKinds {
  placement: Placement;
  source: Source;
  advertiser: Advertiser;
  creative: Creative;
  houseAd: HouseAd;
  policy: Policy;
  adRule: AdRule;
  killSwitch: KillSwitch;
  webhook: Webhook;
}

export type ResourceKind = keyof ResourceKinds;

/** The members that the store adds. */
type ResourceFields = 'id' | 'environment' | 'created_at' | 'updated_at';

/** A document without the members that the store adds. */
export type Stored<K extends ResourceKind> = Omit<ResourceKinds[K], ResourceFields>;

/** Removes the members that the store adds. */
export function toStored<K extends ResourceKind>(document: ResourceKinds[K]): Stored<K> {
  const {
    id: _id,
    environment: _env,
    created_at: _createdAt,
    updated_at: _updatedAt,
    ...stored
  } = document;
  return stored as Stored<K>;
}

/**
 * Applies a change to a document. Each member of the change replaces the stored member, and `null` removes it. This is
 * a JSON Merge Patch (RFC 7396), but only one level deep.
 */
export function applyChange<K extends ResourceKind>(
  kind: K,
  before: Stored<K>,
  change: Record<string, unknown>,
): Stored<K> {
  const after = { ...before, ...change } as Record<string, unknown>;
  for (const [name, value] of Object.entries(change)) if (value === null) delete after[name];
  if (kind === 'creative' && changesContent(before as Stored<'creative'>, after)) {
    after['review'] = unreviewed;
  }
  return after as Stored<K>;
}

/** The initial review of a new or changed creative. */
export const unreviewed: Review = { status: 'pending_review' };

const changesContent = (before: Stored<'creative'>, after: Record<string, unknown>): boolean =>
  !isSameJson(before.media, after['media']) || before.click_url !== after['click_url'];

/** Whether two values are equal. Ignores the order of members, because `jsonb` does not preserve it. */
function isSameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a, sortMembers) === JSON.stringify(b, sortMembers);
}

function sortMembers(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

const defaults = {
  placements: [],
  ortb_version: '2.6',
  priority: 5,
  cpm_micros: 0,
  floor_micros: 0,
  currency: 'USD',
  timeout_ms: 1_000,
  review: 'manual',
  allowed_domains: [],
  impression_on: 'verified',
  tracking_window_s: 1_800,
  child_directed: false,
  header_profile: 'iab',
} as const satisfies Partial<Source>;

/** A source from which decisions request ads, with defaults for its optional fields. */
export type ExternalSource = Source &
  Required<Pick<Source, keyof typeof defaults>> &
  ({ kind: 'vast'; tag_url: string } | { kind: 'openrtb'; endpoint_url: string });

/** A source whose ads an ad SDK in the player's page chooses and shows. */
export type PageSource = Source &
  Required<Pick<Source, 'placements' | 'priority' | 'child_directed' | 'adapter'>>;

/** A source whose network confirms each view with a call to the service. */
export type CallbackSource = Source & Required<Pick<Source, 'callback'>>;

/** Returns a source with defaults, or undefined if its ads are not chosen in the page. */
export function toPageSource(source: Source): PageSource | undefined {
  const { kind, adapter } = source;
  const { placements, priority, child_directed } = defaults;
  if (kind !== 'page' || adapter === undefined) return undefined;
  return { placements: [...placements], priority, child_directed, ...source, adapter };
}

/** Returns a source with defaults, or undefined if the source is not external. */
export function toExternalSource(source: Source): ExternalSource | undefined {
  const { kind, tag_url, endpoint_url } = source;
  const withDefaults = { ...defaults, ...source } as Source &
    Required<Pick<Source, keyof typeof defaults>>;
  if (kind === 'vast' && tag_url !== undefined) return { ...withDefaults, kind, tag_url };
  if (kind === 'openrtb' && endpoint_url !== undefined)
    return { ...withDefaults, kind, endpoint_url };
  return undefined;
}
