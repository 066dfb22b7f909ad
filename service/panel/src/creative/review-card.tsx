import { Box, Button, LinearProgress, MenuItem, TextField } from '@mui/material';
import type { Advertiser, AuditEntry, Creative, Source } from '@trueward/protocol/wire';
import { useState } from 'react';
import { useGetOne } from 'react-admin';
import type { Page as CursorPage } from '../api/cursors.ts';
import type { Shown } from '../api/data-provider.ts';
import { query } from '../api/resources.ts';
import { useAction, useRead } from '../api/use-call.ts';
import { formatDuration } from '../common/duration.ts';
import { Facts } from '../common/facts.tsx';
import { PanelCard } from '../common/page.tsx';
import { humanize } from '../common/status-chip.tsx';
import { TimeText } from '../common/time.tsx';
import { CreativePreview } from '../preview/creative-preview.tsx';

type Content = Pick<Creative, 'media' | 'click_url'>;

/**
 * Returns a creative as it was before the change under review, which is the latest change to its media or click-through
 * URL. Returns undefined if the audit log no longer contains that change.
 *
 * @param entries the creative's audit records, newest first
 */
function findPreviousVersion(entries: readonly AuditEntry[]): Creative | undefined {
  const change = entries.find(
    ({ before, after }) =>
      before !== undefined &&
      after !== undefined &&
      serializeContent(before) !== serializeContent(after),
  );
  return change?.before as Creative | undefined;
}

function serializeContent(document: object): string {
  const { media, click_url: clickUrl } = document as Content;
  return JSON.stringify([media, clickUrl]);
}

const reviewSizes = [
  { width: 800, height: 600 },
  { width: 360, height: 640 },
];

/** A creative that is pending review, next to its previous version. */
export function ReviewCard({
  creative,
  canReview,
}: {
  creative: Shown<Creative>;
  canReview: boolean;
}) {
  const { data: history, isPending: isHistoryPending } = useRead<CursorPage<AuditEntry>>(
    query('/v1/audit-entries', { target_id: creative.id, limit: 50 }),
  );
  const { data: advertiser, isPending: isAdvertiserPending } = useGetOne<Advertiser>(
    'advertisers',
    { id: creative.advertiser_id },
  );
  const { data: source, isPending: isSourcePending } = useGetOne<Source>('sources', {
    id: creative.source_id,
  });
  // What is reviewed is shown as a whole: the buttons don't move under the pointer, and no previous version is missed.
  if (isHistoryPending || isAdvertiserPending || isSourcePending) {
    return (
      <PanelCard title={creative.name}>
        <LinearProgress />
      </PanelCard>
    );
  }
  const previousCreative = findPreviousVersion(history?.data ?? []);
  const { icons, media, origin_url: originUrl, review } = creative;
  // Preview the creative as a decision would return it, with the newest icon.
  const [icon] = icons?.slice(-1) ?? [];
  const previewedCreative = icon
    ? { ...creative, icon, advertiser: advertiser?.name ?? '' }
    : creative;
  return (
    <PanelCard title={creative.name}>
      <Facts
        facts={{
          'Review reason': review.reason_code && humanize(review.reason_code),
          Note: review.feedback,
          Advertiser: advertiser && formatName(advertiser),
          Source: source?.name,
          'Fetched from': originUrl,
          Duration: media.format === 'video' ? formatDuration(media.duration_ms) : undefined,
          // An external ad's click-through URL comes with each decision.
          'Click-through URL': creative.click_url ?? (originUrl ? undefined : 'none'),
          Icons: icons && <Icons icons={icons} />,
          'Alt text': creative.alt,
          Submitted: <TimeText time={creative.updated_at} />,
        }}
      />
      <Box
        sx={{
          display: 'grid',
          gap: 2,
          marginBlock: 2,
          gridTemplateColumns: previousCreative ? { md: 'repeat(2, minmax(0, 1fr))' } : undefined,
        }}
      >
        {previousCreative && (
          <CreativePreview
            title="Previous version"
            creative={previousCreative}
            sizes={reviewSizes}
          />
        )}
        <CreativePreview
          title={previousCreative ? 'New version' : 'Preview'}
          creative={previewedCreative}
          sizes={reviewSizes}
        />
      </Box>
      {canReview && <ReviewForm creative={creative} />}
    </PanelCard>
  );
}

const formatName = ({ domain, name }: Advertiser): string =>
  domain === undefined || domain === name ? name : `${name} (${domain})`;

/**
 * The service's copies of the icons that an external source sends with its creative. Each icon's tooltip shows its
 * original URL.
 */
const Icons = ({ icons }: { icons: NonNullable<Creative['icons']> }) => (
  <Box sx={{ display: 'flex', flexWrap: 'wrap', gap: 1 }}>
    {icons.map(({ height, origin_url: originUrl, url, width }) => (
      <img
        key={originUrl}
        src={url}
        alt={`Icon from ${originUrl}`}
        title={originUrl}
        style={{ maxWidth: Math.min(width, 160), maxHeight: Math.min(height, 80) }}
      />
    ))}
  </Box>
);

const reasons = {
  misleading: 'Misleading',
  unsafe_content: 'Inappropriate for the audience',
  bad_quality: 'Poor image or sound quality',
  broken: 'Broken',
  wrong_destination: 'Misleading link',
  other: 'Other',
};

/** A form that approves a creative, or rejects it with a reason and feedback. */
function ReviewForm({ creative: { id, name, etag } }: { creative: Shown<Creative> }) {
  const [reasonCode, setReasonCode] = useState('');
  const [feedback, setFeedback] = useState('');
  const { run, isRunning } = useAction({ successMessage: `${name} has been reviewed.` });
  const review = (body: object) => run(`/v1/creatives/${id}/review`, { body, ifMatch: etag });
  return (
    <Box sx={{ display: 'flex', flexWrap: 'wrap', gap: 1, alignItems: 'center' }}>
      <Button
        variant="contained"
        color="success"
        disabled={isRunning}
        onClick={() => review({ status: 'approved' })}
      >
        Approve
      </Button>
      <TextField
        select
        size="small"
        fullWidth={false}
        label="Reason"
        value={reasonCode}
        onChange={({ target }) => setReasonCode(target.value)}
        sx={{ minWidth: 200 }}
      >
        {Object.entries(reasons).map(([code, text]) => (
          <MenuItem key={code} value={code}>
            {text}
          </MenuItem>
        ))}
      </TextField>
      <TextField
        size="small"
        fullWidth={false}
        label="Feedback"
        value={feedback}
        onChange={({ target }) => setFeedback(target.value)}
        slotProps={{ htmlInput: { maxLength: 2_000 } }}
        sx={{ flexGrow: 1, minWidth: 200 }}
      />
      <Button
        variant="outlined"
        color="error"
        disabled={isRunning || reasonCode === ''}
        onClick={() =>
          review({
            status: 'rejected',
            reason_code: reasonCode,
            ...(feedback === '' ? {} : { feedback }),
          })
        }
      >
        Reject
      </Button>
    </Box>
  );
}
