import { Box } from '@mui/material';
import type { AuditEntry, Creative } from '@trueward/protocol/wire';
import { ReferenceField, RecordContextProvider } from 'react-admin';
import type { Page } from '../api/cursors.ts';
import { query } from '../api/resources.ts';
import { useRead } from '../api/use-call.ts';
import { CreativePreview } from '../preview/creative-preview.tsx';
import { Facts } from '../common/facts.tsx';
import { PanelCard } from '../common/panel-card.tsx';
import { TimeText } from '../common/time-text.tsx';
import { previousVersion } from './previous-version.ts';
import { ReviewForm } from './review-form.tsx';

const reviewSizes = [
  { width: 800, height: 600 },
  { width: 360, height: 640 },
];

/** A creative that is pending review, next to its previous version. */
export function ReviewCard({ creative, canReview }: { creative: Creative; canReview: boolean }) {
  const { data: history } = useRead<Page<AuditEntry>>(
    query('/v1/audit-entries', { target_id: creative.id, limit: 50 }),
  );
  const previous = previousVersion(history?.data ?? []);
  return (
    <PanelCard title={creative.name}>
      <RecordContextProvider value={creative}>
        <Facts
          facts={{
            Advertiser: (
              <ReferenceField source="advertiser_id" reference="advertisers" link={false} />
            ),
            'Click-through URL': creative.click_url ?? 'none',
            'Alt text': creative.alt,
            Submitted: <TimeText time={creative.updated_at} />,
          }}
        />
      </RecordContextProvider>
      <Box
        sx={{
          display: 'grid',
          gap: 2,
          marginBlock: 2,
          gridTemplateColumns: previous ? { md: 'repeat(2, minmax(0, 1fr))' } : undefined,
        }}
      >
        {previous && <CreativePreview title="Before" creative={previous} sizes={reviewSizes} />}
        <CreativePreview title={previous ? 'Now' : 'New'} creative={creative} sizes={reviewSizes} />
      </Box>
      {canReview && <ReviewForm creative={creative} />}
    </PanelCard>
  );
}
