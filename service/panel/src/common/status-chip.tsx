import { Chip } from '@mui/material';

const colors: Record<string, 'success' | 'warning' | 'error' | 'default'> = {
  active: 'success',
  running: 'success',
  enabled: 'success',
  approved: 'success',
  delivered: 'success',
  healthy: 'success',
  earned: 'success',
  filled: 'success',
  accepted: 'success',
  chosen: 'success',
  pending: 'warning',
  pending_review: 'warning',
  paused: 'warning',
  scheduled: 'warning',
  suspended: 'warning',
  'no ads': 'warning',
  'source paused': 'warning',
  'placement paused': 'warning',
  stopped: 'error',
  no_fill: 'warning',
  blocked: 'error',
  rejected: 'error',
  denied: 'error',
  expired: 'error',
  failed: 'error',
  failing: 'error',
  disabled: 'error',
  on: 'error',
};

/** A status as text. The color conveys no additional information. */
export function StatusChip({ status }: { status: string }) {
  return (
    <Chip
      size="small"
      variant="outlined"
      color={colors[status] ?? 'default'}
      label={humanize(status)}
    />
  );
}

/** Formats a code as text: `pending_review` becomes `pending review`. */
export const humanize = (name: string): string => name.replaceAll('_', ' ');
