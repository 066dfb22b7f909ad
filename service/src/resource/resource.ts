import type {
  Advertiser,
  Creative,
  HouseAd,
  KillSwitch,
  Placement,
  Policy,
  Source,
  Webhook,
} from '@trueward/protocol/wire';

/** The kinds of managed object, and the document of each. */
export interface ResourceKinds {
  placement: Placement;
  source: Source;
  advertiser: Advertiser;
  creative: Creative;
  houseAd: HouseAd;
  policy: Policy;
  killSwitch: KillSwitch;
  webhook: Webhook;
}

export type ResourceKind = keyof ResourceKinds;

/** The members that the store adds to a document. */
export type ResourceFields = 'id' | 'environment' | 'created_at' | 'updated_at';

/** What is stored of a resource: its own members. */
export type Stored<K extends ResourceKind> = Omit<ResourceKinds[K], ResourceFields>;

/** A document without what the store adds to it. */
export function toStored<K extends ResourceKind>(document: ResourceKinds[K]): Stored<K> {
  const { id: _id, environment: _env, created_at: _made, updated_at: _changed, ...own } = document;
  return own as Stored<K>;
}
