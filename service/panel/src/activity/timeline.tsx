import { Box, Typography } from '@mui/material';
import { formatElapsed } from '../common/duration.ts';
import { humanize, StatusChip } from '../common/status-chip.tsx';
import { TimeText } from '../common/time.tsx';
import type { StoredEvent } from './stored-decision.ts';

interface Props {
  issuedAt: string | undefined;
  events: readonly StoredEvent[];
}

/** A decision's events in chronological order. */
export function Timeline({ issuedAt, events }: Props) {
  const orderedEvents = events.toSorted((a, b) => readTime(a).localeCompare(readTime(b)));
  return (
    <Box component="ol" sx={{ margin: 0, paddingInlineStart: 3, '& li': { marginBottom: 1 } }}>
      <li>
        <strong>decided</strong> · <TimeText time={issuedAt} />
      </li>
      {orderedEvents.map((event) => (
        <li key={event.id}>
          <strong>{humanize(event.type)}</strong>
          {issuedAt !== undefined &&
            readTime(event) !== '' &&
            ` after ${formatElapsed(Date.parse(readTime(event)) - Date.parse(issuedAt))}`}
          {' · '}
          <TimeText time={readTime(event) || undefined} />{' '}
          {event.status !== undefined && event.status !== 'accepted' && (
            <StatusChip status={event.status} />
          )}
          <Typography variant="body2" color="textSecondary">
            {describeDetails(event)}
          </Typography>
        </li>
      ))}
    </Box>
  );
}

const readTime = ({ occurred_at: occurredAt, received_at: receivedAt }: StoredEvent): string =>
  occurredAt ?? receivedAt ?? '';

function describeDetails({ watched_ms: watchedMs, visible, code, detail }: StoredEvent): string {
  return [
    ...(watchedMs === undefined ? [] : [`watched for ${(watchedMs / 1_000).toFixed(1)} s`]),
    ...(visible === undefined
      ? []
      : [`${Math.round(visible.ratio * 100)}% visible for ${(visible.ms / 1_000).toFixed(1)} s`]),
    ...(code === undefined ? [] : [humanize(code)]),
    ...(detail === undefined ? [] : [detail]),
  ].join(', ');
}
