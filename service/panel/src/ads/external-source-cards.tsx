import { Box } from '@mui/material';
import type { Source } from '@trueward/protocol/wire';
import { SourceHealth } from './source-health.tsx';
import { SourceTrial } from './source-trial.tsx';

interface Props {
  source: Source;
  canTry: boolean;
}

/** Shows an external source's health. Users who may edit the source can also send it a test request. */
export const ExternalSourceCards = ({ source, canTry }: Props) => (
  <Box sx={{ padding: 2, display: 'grid', gap: 2, gridTemplateColumns: 'minmax(0, 1fr)' }}>
    {canTry && <SourceTrial source={source} />}
    <SourceHealth id={source.id} />
  </Box>
);
