import type { Clock } from '../platform/clock.ts';
import type { ResourceStore } from '../resource/resource-store.ts';
import type { Scope } from '../resource/scope.ts';
import type { Queries } from '../store/database.ts';
import { demoCreatives } from './demo-creatives.ts';
import { demoPlacements } from './demo-placements.ts';

/** Fills one environment of the demo account: placements, demand, and an ad for each placement. */
export async function seedEnvironment(
  queries: Queries,
  resources: ResourceStore,
  clock: Clock,
  scope: Scope,
  serviceUrl: string,
): Promise<void> {
  for (const placement of demoPlacements)
    await resources.create(queries, scope, 'placement', placement);
  const source = await resources.create(queries, scope, 'source', {
    name: 'House',
    kind: 'house',
    status: 'active',
  });
  for (const { advertiser, creative, houseAd } of demoCreatives(`${serviceUrl}/media`)) {
    const { id: advertiserId } = await resources.create(queries, scope, 'advertiser', advertiser);
    const { id: creativeId } = await resources.create(queries, scope, 'creative', {
      ...creative,
      advertiser_id: advertiserId,
      source_id: source.id,
      review: {
        status: 'approved',
        reviewed_at: new Date(clock.nowMs()).toISOString(),
        reviewed_by: 'seed',
      },
    });
    await resources.create(queries, scope, 'houseAd', {
      ...houseAd,
      creative_id: creativeId,
      priority: 5,
      status: 'active',
    });
  }
}
