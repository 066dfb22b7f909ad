import { Alert } from '@mui/material';
import type { Decision } from '@trueward/protocol/wire';

/** Says whether the next ad would be shown and, if a rule holds it back, when. */
export function LoadAnswer({
  decision,
  explain,
}: {
  decision: Decision;
  explain: readonly { name: string }[];
}) {
  const { format, issued_at: issuedAt, reason, retry_at: retryAt, status } = decision;
  if (status === 'filled')
    return <Alert severity="success">The next {format} ad would be shown now.</Alert>;
  if (reason !== 'frequency_capped') return null;
  const seconds = retryAt && Math.ceil((Date.parse(retryAt) - Date.parse(issuedAt)) / 1_000);
  const rule = explain[0]?.name;
  return (
    <Alert severity="info">
      {seconds
        ? `The next ${format} ad would be shown ${seconds} seconds later.`
        : `The next ${format} ad would not be shown in this session.`}
      {rule !== undefined && ` Held back by: ${rule}`}
    </Alert>
  );
}
