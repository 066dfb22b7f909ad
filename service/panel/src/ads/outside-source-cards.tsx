import { Box } from '@mui/material';
import type { Source } from '@trueward/protocol/wire';
import { SourceHealth } from './source-health.tsx';
import { SourceTrial } from './source-trial.tsx';

interface Props {
  source: Source;
  canTry: boolean;
}

/** The health of an outside source, and a trial for users who can edit it. */
export const OutsideSourceCards = ({ source, canTry }: Props) => (
  <Box sx={{ padding: 2, display: 'grid', gap: 2, gridTemplateColumns: 'minmax(0, 1fr)' }}>
    {canTry && <SourceTrial source={source} />}
    <SourceHealth id={source.id} />
  </Box>
);
