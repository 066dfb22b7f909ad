import type { Creative, HouseAd, Placement, Policy } from '@trueward/protocol/wire';
import type { RecordedEvent } from '../../src/decision/decision-state.ts';
import type { RateLimits } from '../../src/http/limits/rate-limits.ts';
import type { AnyResource } from '../../src/decision/snapshot.ts';

const common = {
  environment: 'sandbox',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
} as const;

export const createPlacement = (overrides: Partial<Placement> = {}): Placement => ({
  ...common,
  id: 'plc_1',
  name: 'revive',
  format: 'rewarded',
  reward: { type: 'coins', amount: 5 },
  cooldown_s: 0,
  min_view_ms: 5_000,
  close_after_ms: 5_000,
  late_window_s: 3_600,
  status: 'active',
  ...overrides,
});

interface AdOverrides {
  houseAd?: Partial<HouseAd>;
  creative?: Partial<Creative>;
}

/** Creates an advertiser, a source, a creative and a house ad whose ids end with `name`. */
export function createAdResources(
  name: string,
  { houseAd = {}, creative = {} }: AdOverrides = {},
): AnyResource[] {
  return [
    {
      kind: 'advertiser',
      document: {
        ...common,
        id: `adv_${name}`,
        name,
        domain: `shop.${name}.example`,
        categories: ['advertiser-1'],
      },
    },
    {
      kind: 'source',
      document: { ...common, id: `src_${name}`, name, kind: 'house', status: 'active' },
    },
    {
      kind: 'creative',
      document: {
        ...common,
        id: `crv_${name}`,
        name,
        advertiser_id: `adv_${name}`,
        source_id: `src_${name}`,
        media: {
          format: 'image',
          files: [{ url: 'https://x.example/a.png', mime: 'image/png', width: 1, height: 1 }],
        },
        alt: '',
        categories: ['creative-1'],
        review: { status: 'approved' },
        ...creative,
      },
    },
    {
      kind: 'houseAd',
      document: {
        ...common,
        id: `had_${name}`,
        name,
        creative_id: `crv_${name}`,
        placements: ['revive'],
        priority: 5,
        weight: 1,
        status: 'active',
        ...houseAd,
      },
    },
  ];
}

export const createPolicy = (overrides: Partial<Policy> = {}): AnyResource => ({
  kind: 'policy',
  document: {
    ...common,
    id: 'pol_1',
    name: 'rule',
    kind: 'policy',
    placements: [],
    when: {},
    block: { everything: true },
    status: 'active',
    ...overrides,
  },
});

export const createKillSwitch = (
  scope: 'source' | 'advertiser' | 'placement',
  target: string,
  expiresAt?: string,
): AnyResource => ({
  kind: 'killSwitch',
  document: {
    ...common,
    id: `ksw_${target}`,
    scope,
    target_id: target,
    state: 'on',
    actor: 'test',
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
  },
});

/**
 * Creates an event. Times are in milliseconds since the decision. `offsetMs` is the time in flight plus the clock skew.
 */
export const createEvent = (
  type: RecordedEvent['type'],
  atMs: number,
  overrides: Partial<RecordedEvent> = {},
): RecordedEvent => ({
  id: `${type}-${atMs}`,
  decisionId: 'dec_1',
  type,
  occurredAtMs: atMs,
  receivedAtMs: atMs,
  offsetMs: 0,
  clamped: false,
  ...overrides,
});

/** Returns limits that are the same for everybody. */
export const limitAll = (
  rate: RateLimits['address'],
  waits = { key: 1, address: 1 },
): RateLimits => ({
  key: { sandbox: rate, live: rate },
  keyCeiling: rate,
  address: rate,
  user: { sandbox: rate, live: rate },
  guests: rate,
  waits,
});
