import type { Advertiser, ApiKey, Creative, HouseAd, Placement } from '@trueward/protocol/wire';
import { useGetList } from 'react-admin';
import type { Shown } from '../api/data-provider.ts';
import { isRevoked } from '../key/key-actions.tsx';

/** The newest object of a kind, and whether that is known yet. */
interface Newest<T> {
  record: T | undefined;
  isKnown: boolean;
}

function useNewest<T extends { id: string }>(
  resource: string,
  filter: Record<string, string> = {},
  refetchInterval: number | false = false,
): Newest<T> {
  const { data } = useGetList<T>(
    resource,
    {
      filter,
      pagination: { page: 1, perPage: 1 },
      sort: { field: 'created_at', order: 'DESC' },
    },
    { refetchInterval },
  );
  return { record: data?.[0], isKnown: data !== undefined };
}

export interface FirstAd {
  placement: Placement | undefined;
  advertiser: Advertiser | undefined;
  creative: Shown<Creative> | undefined;
  houseAd: HouseAd | undefined;
  key: ApiKey | undefined;
  decision: { id: string } | undefined;
  /** The number of steps that are done, in order. */
  done: number;
  isKnown: boolean;
}

/** The steps from an empty environment to the first ad. */
export const stepNames = [
  'Create a placement',
  'Name the advertiser',
  'Upload a creative',
  'Review it',
  'Create a house ad',
  'Create a key',
  'Paste the code',
] as const;

const refetchInterval = 3_000;

/**
 * How far an environment is on the way to its first ad, as its newest objects show. So the way can be left and taken up
 * again, and steps that were taken elsewhere count.
 *
 * @param isWaiting whether to look for the first ad request again and again
 */
export function useFirstAd(isWaiting: boolean): FirstAd {
  const placement = useNewest<Placement>('placements', { status: 'active' });
  const advertiser = useNewest<Advertiser>('advertisers');
  // Somebody else may review it, and until then it may change.
  const creative = useNewest<Shown<Creative>>('creatives', {}, refetchInterval);
  const houseAd = useNewest<HouseAd>('house-ads', { status: 'active' });
  const { data: keys } = useGetList<ApiKey>('keys', {
    filter: { kind: 'publishable' },
    pagination: { page: 1, perPage: 1_000 },
    sort: { field: 'created_at', order: 'DESC' },
  });
  const key = {
    record: keys?.find((each) => !isRevoked(each, Date.now())),
    isKnown: keys !== undefined,
  };
  const decision = useNewest<{ id: string }>('decisions', {}, isWaiting && refetchInterval);
  const steps = [
    placement.record !== undefined,
    advertiser.record !== undefined,
    creative.record !== undefined,
    creative.record?.review.status === 'approved',
    houseAd.record !== undefined,
    key.record !== undefined,
    decision.record !== undefined,
  ];
  const firstOpen = steps.indexOf(false);
  return {
    placement: placement.record,
    advertiser: advertiser.record,
    creative: creative.record,
    houseAd: houseAd.record,
    key: key.record,
    decision: decision.record,
    done: firstOpen === -1 ? steps.length : firstOpen,
    isKnown: [placement, advertiser, creative, houseAd, key, decision].every(
      ({ isKnown }) => isKnown,
    ),
  };
}
