import type {
  Creative,
  Decision,
  HouseAd,
  KillSwitch,
  Placement,
  Policy,
  Webhook,
} from '@trueward/protocol/wire';
import { parseInstant } from '../platform/instant.ts';
import type { ResourceKind, ResourceKinds } from '../resource/resource.ts';

/** One ad that a placement may show. */
export interface Candidate {
  houseAd: HouseAd;
  creative: Creative;
  /** What a client is told of the creative. */
  shown: NonNullable<Decision['creative']>;
  advertiserDomain: string;
  /** Categories of the creative and of its advertiser. */
  categories: ReadonlySet<string>;
  sourcePaused: boolean;
  startsAtMs: number;
  endsAtMs: number;
}

export interface PlacementEntry {
  placement: Placement;
  /** By priority; 1 comes first. */
  candidates: readonly Candidate[];
  /** In the order of evaluation: policy, commercial, brand safety; the older first. */
  policies: readonly Policy[];
}

/** Everything that decides about the ads of one account and environment, compiled once per change. */
export interface Snapshot {
  placements: ReadonlyMap<string, PlacementEntry>;
  killSwitches: readonly (KillSwitch & { expiresAtMs: number })[];
  webhooks: readonly Webhook[];
  /** The types of events that a webhook subscribes to, a disabled one included: it may recover what it missed. */
  subscribedEvents: ReadonlySet<Webhook['events'][number]>;
  /** How many webhooks the service has disabled. */
  disabledWebhooks: number;
}

export type AnyResource = {
  [K in ResourceKind]: { kind: K; document: ResourceKinds[K] };
}[ResourceKind];

const policyOrder: readonly Policy['kind'][] = ['policy', 'commercial', 'brand_safety'];

/**
 * @param absent - the value when there is no time
 * @param unreadable - the value for a stored text that is not an instant: the ad is not shown, the switch stays on
 */
const timeOf = (text: string | undefined, absent: number, unreadable: number): number =>
  text === undefined ? absent : (parseInstant(text) ?? unreadable);

/** Compiles the managed objects of one account and environment; pure. */
export function compileSnapshot(resources: readonly AnyResource[]): Snapshot {
  const of = <K extends ResourceKind>(kind: K): ResourceKinds[K][] =>
    resources
      .filter((resource) => resource.kind === kind)
      .map((resource) => resource.document as ResourceKinds[K]);
  const byId = <T extends { id: string }>(documents: T[]) =>
    new Map(documents.map((document) => [document.id, document]));

  const creatives = byId(of('creative'));
  const advertisers = byId(of('advertiser'));
  const sources = byId(of('source'));
  const candidates = of('houseAd')
    .filter((houseAd) => houseAd.status === 'active')
    .flatMap((houseAd): Candidate[] => {
      const creative = creatives.get(houseAd.creative_id);
      const advertiser = creative && advertisers.get(creative.advertiser_id);
      const source = creative && sources.get(creative.source_id);
      if (!creative || !advertiser || !source) return [];
      return [
        {
          houseAd,
          creative,
          shown: describeCreative(creative),
          advertiserDomain: advertiser.domain,
          categories: new Set([...creative.categories, ...advertiser.categories]),
          sourcePaused: source.status === 'paused',
          startsAtMs: timeOf(houseAd.starts_at, -Infinity, Infinity),
          endsAtMs: timeOf(houseAd.ends_at, Infinity, -Infinity),
        },
      ];
    })
    .sort((a, b) => a.houseAd.priority - b.houseAd.priority || compare(a.houseAd.id, b.houseAd.id));
  const policies = of('policy');

  const entry = (placement: Placement): PlacementEntry => ({
    placement,
    candidates: candidates.filter(({ houseAd }) => houseAd.placements.includes(placement.name)),
    policies: policiesOf(placement.name, policies),
  });
  return {
    placements: new Map(of('placement').map((placement) => [placement.name, entry(placement)])),
    killSwitches: of('killSwitch')
      .filter(({ state }) => state === 'on')
      .map((killSwitch) => ({
        ...killSwitch,
        expiresAtMs: timeOf(killSwitch.expires_at, Infinity, Infinity),
      })),
    webhooks: of('webhook').filter(({ status }) => status === 'enabled'),
    subscribedEvents: new Set(of('webhook').flatMap(({ events }) => events)),
    disabledWebhooks: of('webhook').filter(
      ({ disabled_reason: reason }) => reason === 'gone' || reason === 'failing',
    ).length,
  };
}

const describeCreative = ({
  id,
  media,
  alt,
  click_url,
}: Creative): NonNullable<Decision['creative']> => ({
  id,
  media,
  alt,
  ...(click_url === undefined ? {} : { click_url }),
});

/** The policies of one placement, in the order of their evaluation. */
export const policiesOf = (placement: string, policies: readonly Policy[]): Policy[] =>
  policies
    .filter(
      ({ status, placements }) =>
        status === 'active' && (placements.length === 0 || placements.includes(placement)),
    )
    .sort(
      (a, b) => policyOrder.indexOf(a.kind) - policyOrder.indexOf(b.kind) || compare(a.id, b.id),
    );

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
