import type { Source } from '@trueward/protocol/wire';
import type { OfferRequest } from '../src/demand/exchange/offer-request.ts';
import { type ExternalSource, toExternalSource } from '../src/resource/resource.ts';

let sourceCount = 0;

/** Creates an external source with a new id, so that it doesn't share a circuit breaker with an earlier source. */
export function createSource(
  url: { tag_url: string } | { endpoint_url: string },
  fields: Partial<Source> = {},
): ExternalSource {
  sourceCount += 1;
  const source = toExternalSource({
    id: `src_${sourceCount}`,
    name: 'A source',
    environment: 'sandbox',
    status: 'active',
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    kind: 'tag_url' in url ? 'vast' : 'openrtb',
    ...url,
    placements: ['revive'],
    cpm_micros: 2_000_000,
    floor_micros: 1_000_000,
    ...fields,
  });
  if (!source) throw new Error('This is not an external source.');
  return source;
}

/** An offer request without player data. */
export const offerRequest: OfferRequest = {
  accountId: 'acc_1',
  transactionId: '7f3e0c1a-6f0e-4c1f-9a52-0a9e4f6f1b11',
  placement: 'revive',
  sandbox: true,
  loopback: true,
  player: { limitAdTracking: true, childDirected: false },
  viewport: { width: 844, height: 390 },
  minSkipMs: 0,
  blocked: { advertisers: [], categories: [], seats: [], attributes: [] },
  showWithinS: 600,
};
