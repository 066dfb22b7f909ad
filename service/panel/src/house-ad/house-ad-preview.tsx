import type { Creative, Placement } from '@trueward/protocol/wire';
import { useGetList, useGetOne } from 'react-admin';
import { useWatch } from 'react-hook-form';
import { CreativePreview } from '../preview/creative-preview.tsx';

/** What players of this house ad will see, while it is being edited. */
export function HouseAdPreview() {
  const creativeId = useWatch<Record<string, string | undefined>>({ name: 'creative_id' });
  const names = useWatch<Record<string, string[] | undefined>>({ name: 'placements' }) ?? [];
  const { data: creative } = useGetOne<Creative>(
    'creatives',
    { id: creativeId ?? '' },
    { enabled: Boolean(creativeId) },
  );
  const { data: placements = [] } = useGetList<Placement>(
    'placements',
    { filter: { name: names[0] }, pagination: { page: 1, perPage: 1 } },
    { enabled: names.length > 0 },
  );
  if (!creative) return null;
  const [placement] = placements;
  return (
    <CreativePreview
      title="As players see it"
      creative={creative}
      reward={placement?.reward}
      format={placement?.format ?? 'interstitial'}
    />
  );
}
