import type {
  AdRule,
  Advertiser,
  Creative,
  Decision,
  HouseAd,
  KillSwitch,
  Placement,
  Policy,
  Webhook,
} from '@trueward/protocol/wire';
import { type AdRules, compileAdRules, selectAdRules } from './ad-rules.ts';
import { listCategories } from '../platform/names.ts';
import { endsApplyingAtMs, readSchedule } from '../resource/effective-state.ts';
import {
  type CallbackSource,
  type ExternalSource,
  toExternalSource,
  type PageSource,
  toPageSource,
  type ResourceKind,
  type ResourceKinds,
} from '../resource/resource.ts';

/** A creative with the advertiser data that decisions need. */
export interface Ad {
  creative: Creative;
  /** The creative as clients receive it. */
  clientCreative: NonNullable<Decision['creative']>;
  advertiserName: string;
  advertiserDomain: string;
  /** The categories of the creative and its advertiser, and the categories that include them. */
  categories: ReadonlySet<string>;
}

/** A house ad that a placement may show. */
export interface Candidate extends Ad {
  houseAd: HouseAd;
  sourcePaused: boolean;
  startsAtMs: number;
  endsAtMs: number;
}

export interface PlacementEntry {
  placement: Placement;
  /** Sorted by priority, 1 first. */
  candidates: readonly Candidate[];
  /** Active external sources that may fill the placement, sorted by priority, 1 first. */
  sources: readonly ExternalSource[];
  /** Active sources that show their own ads in the page, sorted by priority, 1 first. */
  pageSources: readonly PageSource[];
  /** In evaluation order: policy, commercial, brand safety. Within a kind, the oldest policy comes first. */
  policies: readonly Policy[];
  /** The ad rules that can hold the placement's ads back. */
  adRules: readonly AdRule[];
}

/** One account's configuration in one environment. It is compiled after each change, so that decisions are fast. */
export interface Snapshot {
  placements: ReadonlyMap<string, PlacementEntry>;
  /** Sources whose network confirms views, by id. Paused ones too: their last ads may still be confirmed. */
  callbackSources: ReadonlyMap<string, CallbackSource>;
  /** Returns a creative that was imported from an external source, whether or not it has been approved. */
  findExternalCreative(sourceId: string, creativeKey: string): Ad | undefined;
  adRules: AdRules;
  killSwitches: readonly (KillSwitch & {
    expiresAtMs: number;
    /**
     * What it stops: its target and, if that is an advertiser, all others with the same domain, because ads from outside
     * belong to the oldest of them.
     */
    targetIds: readonly string[];
  })[];
  webhooks: readonly Webhook[];
  /**
   * Event types to which at least one webhook subscribes. Disabled webhooks are included, because their missed events
   * may be recovered later.
   */
  subscribedEvents: ReadonlySet<Webhook['events'][number]>;
  /** Number of webhooks that the service has disabled. */
  disabledWebhooks: number;
}

export type AnyResource = {
  [K in ResourceKind]: { kind: K; document: ResourceKinds[K] };
}[ResourceKind];

const policyOrder: readonly Policy['kind'][] = ['policy', 'commercial', 'brand_safety'];

/** Compiles one account's resources in one environment into a snapshot. */
export function compileSnapshot(resources: readonly AnyResource[]): Snapshot {
  const selectDocuments = <K extends ResourceKind>(kind: K): ResourceKinds[K][] =>
    resources
      .filter((resource) => resource.kind === kind)
      .map((resource) => resource.document as ResourceKinds[K]);
  const indexById = <T extends { id: string }>(documents: T[]) =>
    new Map(documents.map((document) => [document.id, document]));

  const creatives = indexById(selectDocuments('creative'));
  const advertisers = indexById(selectDocuments('advertiser'));
  const sources = indexById(selectDocuments('source'));
  const buildAd = (creative: Creative | undefined): Ad | undefined => {
    const advertiser = creative && advertisers.get(creative.advertiser_id);
    return advertiser && describeAd(creative, advertiser);
  };
  const candidates = selectDocuments('houseAd')
    .filter((houseAd) => houseAd.status === 'active')
    .flatMap((houseAd): Candidate[] => {
      const ad = buildAd(creatives.get(houseAd.creative_id));
      const source = ad && sources.get(ad.creative.source_id);
      if (!source) return [];
      return [
        {
          ...ad,
          houseAd,
          sourcePaused: source.status === 'paused',
          ...readSchedule(houseAd),
        },
      ];
    })
    .sort((a, b) => a.houseAd.priority - b.houseAd.priority || compare(a.houseAd.id, b.houseAd.id));
  const policies = sortPolicies(selectDocuments('policy'));
  const adRules = compileAdRules(selectDocuments('adRule').toSorted((a, b) => compare(a.id, b.id)));
  const sortActive = <T extends ExternalSource | PageSource>(list: T[]): T[] =>
    list
      .filter(({ status }) => status === 'active')
      .sort((a, b) => a.priority - b.priority || compare(a.id, b.id));
  const externalSources = sortActive(
    selectDocuments('source').flatMap((source) => toExternalSource(source) ?? []),
  );
  const pageSources = sortActive(
    selectDocuments('source').flatMap((source) => toPageSource(source) ?? []),
  );
  const candidatesOf = groupByPlacement(candidates, ({ houseAd }) => houseAd.placements);
  const sourcesOf = groupByPlacement(externalSources, (source) => source.placements);
  const pageSourcesOf = groupByPlacement(pageSources, (source) => source.placements);
  // If two creatives have the same key, the older one is used.
  const externalCreatives = new Map(
    selectDocuments('creative')
      .filter(({ source_key: key }) => key !== undefined)
      .sort((a, b) => compare(b.id, a.id))
      .map((creative) => [
        makeCreativeKey(creative.source_id, creative.source_key ?? ''),
        creative,
      ]),
  );

  const buildEntry = (placement: Placement): PlacementEntry => ({
    placement,
    candidates: candidatesOf.get(placement.name) ?? [],
    sources: sourcesOf.get(placement.name) ?? [],
    pageSources: pageSourcesOf.get(placement.name) ?? [],
    policies: policies.filter((policy) => isFor(policy, placement.name)),
    adRules: selectAdRules(adRules, placement),
  });
  return {
    placements: new Map(
      selectDocuments('placement').map((placement) => [placement.name, buildEntry(placement)]),
    ),
    callbackSources: indexById(
      [...sources.values()].filter(
        (source): source is CallbackSource => source.callback !== undefined,
      ),
    ),
    findExternalCreative: (sourceId, creativeKey) =>
      buildAd(externalCreatives.get(makeCreativeKey(sourceId, creativeKey))),
    adRules,
    killSwitches: selectDocuments('killSwitch')
      .filter(({ state }) => state === 'on')
      .map((killSwitch) => ({
        ...killSwitch,
        expiresAtMs: endsApplyingAtMs(killSwitch),
        targetIds: listTargetIds(killSwitch, advertisers),
      })),
    webhooks: selectDocuments('webhook').filter(({ status }) => status === 'enabled'),
    subscribedEvents: new Set(selectDocuments('webhook').flatMap(({ events }) => events)),
    disabledWebhooks: selectDocuments('webhook').filter(
      ({ disabled_reason: reason }) => reason === 'gone' || reason === 'failing',
    ).length,
  };
}

function listTargetIds(
  { scope, target_id: id }: KillSwitch,
  advertisers: ReadonlyMap<string, Advertiser>,
): string[] {
  const domain = scope === 'advertiser' ? advertisers.get(id)?.domain : undefined;
  if (domain === undefined) return [id];
  return [...advertisers.values()].filter((other) => other.domain === domain).map((it) => it.id);
}

const makeCreativeKey = (sourceId: string, creativeKey: string): string =>
  `${sourceId} ${creativeKey}`;

const describeAd = (creative: Creative, { name, domain, categories }: Advertiser): Ad => ({
  creative,
  clientCreative: describeCreative(creative),
  advertiserName: name,
  advertiserDomain: domain,
  categories: new Set([...creative.categories, ...categories].flatMap(listCategories)),
});

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

/** Returns a placement's active policies, in evaluation order. */
export const selectPolicies = (placement: string, policies: readonly Policy[]): Policy[] =>
  sortPolicies(policies).filter((policy) => isFor(policy, placement));

/** Returns the active policies, in evaluation order. */
const sortPolicies = (policies: readonly Policy[]): Policy[] =>
  policies
    .filter(({ status }) => status === 'active')
    .sort(
      (a, b) => policyOrder.indexOf(a.kind) - policyOrder.indexOf(b.kind) || compare(a.id, b.id),
    );

const isFor = ({ placements }: Policy, placement: string): boolean =>
  placements.length === 0 || placements.includes(placement);

/** Groups items by the placements that they name, so that the cost is proportional to the size of the configuration. */
function groupByPlacement<T>(
  items: readonly T[],
  listPlacements: (item: T) => readonly string[],
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items)
    for (const placement of new Set(listPlacements(item))) {
      const group = groups.get(placement);
      if (group) group.push(item);
      else groups.set(placement, [item]);
    }
  return groups;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
