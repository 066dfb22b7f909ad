import { Alert } from '@mui/material';
import type { Placement } from '@trueward/protocol/wire';
import { DataTable, useRecordContext } from 'react-admin';
import { NameColumn, wideOnly } from '../common/columns.tsx';
import { formatDuration } from '../common/duration.ts';
import { StatusChip } from '../common/status-chip.tsx';
import { CreatePage, EditPage, ListPage } from '../resource/resource-pages.tsx';
import { PlacementFields } from './placement-fields.tsx';
import { useRecommendedRules } from './recommended-rules.tsx';
import { usePlacementProblem } from './use-serving.ts';

export function PlacementList() {
  return (
    <ListPage>
      <NameColumn source="name" label="Name" />
      <DataTable.Col source="format" label="Format" />
      <DataTable.Col
        {...wideOnly}
        label="Reward"
        render={({ reward }) => (reward ? `${reward.amount} ${reward.type}` : '–')}
      />
      <DataTable.Col
        {...wideOnly}
        label="Frequency cap"
        render={(placement) => formatCap((placement as Placement).frequency_cap)}
      />
      <DataTable.Col
        source="status"
        label="Status"
        render={(placement) => <PlacementStatus placement={placement as Placement} />}
      />
    </ListPage>
  );
}

/** A placement's status, or why it has no ads. */
function PlacementStatus({ placement }: { placement: Placement }) {
  const problem = usePlacementProblem(placement);
  return (
    <span title={problem?.text}>
      <StatusChip status={problem?.state ?? placement.status} />
    </span>
  );
}

/** Why the current placement has no ads, if it has none. */
function PlacementWarning() {
  const placement = useRecordContext<Placement>();
  const problem = usePlacementProblem(placement ?? { name: '', status: 'paused' });
  if (!problem) return null;
  return (
    <Alert severity="warning" sx={{ width: '100%', marginBottom: 2 }}>
      {problem.text}
    </Alert>
  );
}

const formatCap = (cap: Placement['frequency_cap']): string =>
  cap ? `${cap.max} per ${formatDuration(cap.per_s * 1_000)}` : 'none';

/** Creates a placement and, with an environment's first interstitial, the ad rules that portals expect. */
export const PlacementCreate = () => (
  <CreatePage noun="placement" transform={useRecommendedRules()}>
    <PlacementFields isNew />
  </CreatePage>
);

export const PlacementEdit = () => (
  <EditPage noun="placement">
    <PlacementWarning />
    <PlacementFields isNew={false} />
  </EditPage>
);
