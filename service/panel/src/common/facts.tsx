import { Box, Typography } from '@mui/material';
import { Fragment, type ReactNode } from 'react';
import { humanize } from './status-chip.tsx';
import { TimeText } from './time.tsx';

/** A list of names and values. Omits empty values. */
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
        value === undefined || value === null || value === '' || value === false ? null : (
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

/** All fields of an object, including nested ones. */
export function RecordFacts({ record }: { record: object }) {
  const facts = Object.entries(record).map(([name, value]) => [humanize(name), formatValue(value)]);
  return <Facts facts={Object.fromEntries(facts) as Record<string, ReactNode>} />;
}

function formatValue(value: unknown): ReactNode {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value)) {
    if (value.length === 0) return 'none';
    const isPlain = value.every((item) => typeof item !== 'object');
    return isPlain
      ? value.join(', ')
      : value.map((item: object, index) => <RecordFacts key={index} record={item} />);
  }
  if (typeof value === 'object') return <RecordFacts record={value} />;
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) {
    return <TimeText time={value} />;
  }
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return String(value as string | number);
}
