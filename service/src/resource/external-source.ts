import type { Source } from '@trueward/protocol/wire';

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
