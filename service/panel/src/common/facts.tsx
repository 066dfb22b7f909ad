import { Box, Typography } from '@mui/material';
import { Fragment, type ReactNode } from 'react';

/** Names with their values; what has no value is left out. */
export function Facts({ facts }: { facts: Record<string, ReactNode> }) {
  return (
    <Box
      component="dl"
      sx={{
        margin: 0,
        display: 'grid',
        gridTemplateColumns: { xs: '1fr', sm: 'max-content minmax(0, 1fr)' },
        columnGap: 3,
        rowGap: { xs: 0, sm: 0.75 },
      }}
    >
      {Object.entries(facts).map(([name, value]) =>
        value === undefined || value === null || value === '' ? null : (
          <Fragment key={name}>
            <Typography component="dt" color="textSecondary">
              {name}
            </Typography>
            <Typography
              component="dd"
              sx={{ margin: 0, marginBottom: { xs: 1, sm: 0 }, overflowWrap: 'anywhere' }}
            >
              {value}
            </Typography>
          </Fragment>
        ),
      )}
    </Box>
  );
}
