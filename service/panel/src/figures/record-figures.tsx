import { Box, Typography } from '@mui/material';
import type { Subject } from './figures.ts';
import { RangeFigures } from './range-figures.tsx';
import { TopList } from './top-list.tsx';

/** The figures of one object, for its own page. */
export const RecordFigures = ({ subject }: { subject: Subject }) => (
  <Box component="section" aria-label="Figures" sx={{ padding: 2, minWidth: 0 }}>
    <Typography variant="h2" sx={{ marginBottom: 2 }}>
      Figures
    </Typography>
    <RangeFigures subject={subject}>
      {(rows, range) =>
        subject.dimension !== 'placement' &&
        rows.length > 0 && <TopList range={range} subject={subject} />
      }
    </RangeFigures>
  </Box>
);
