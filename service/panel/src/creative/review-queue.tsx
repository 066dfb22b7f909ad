import { Alert, Box, Typography } from '@mui/material';
import type { Creative } from '@trueward/protocol/wire';
import { Loading, useCanAccess, useGetList } from 'react-admin';
import type { Shown } from '../api/data-provider.ts';
import { Page } from '../common/page.tsx';
import { ReviewCard } from './review-card.tsx';

/** The creatives that are pending review, oldest first. */
export function ReviewQueue() {
  const {
    data,
    total = 0,
    isPending,
    error,
  } = useGetList<Shown<Creative>>('creatives', {
    filter: { 'review.status': 'pending_review' },
    pagination: { page: 1, perPage: 20 },
    sort: { field: 'updated_at', order: 'ASC' },
  });
  const { canAccess = false } = useCanAccess({ resource: 'creatives', action: 'edit' });
  return (
    <Page title="Review queue" lead="Only approved creatives are shown to players.">
      {isPending && <Loading />}
      {error && <Alert severity="error">{error.message}</Alert>}
      {total > (data?.length ?? 0) && (
        <Typography>
          Showing the oldest {data?.length} of {total}.
        </Typography>
      )}
      {data?.length === 0 && <Typography>Nothing to review.</Typography>}
      <Box sx={{ display: 'grid', gap: 2, gridTemplateColumns: 'minmax(0, 1fr)' }}>
        {data?.map((creative) => (
          <ReviewCard key={creative.id} creative={creative} canReview={canAccess} />
        ))}
      </Box>
    </Page>
  );
}
