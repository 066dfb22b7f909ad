import { Box, Typography } from '@mui/material';
import { Fragment, type ReactNode } from 'react';
import { formatFieldNumber, getFieldLabel } from './fields.ts';
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

/**
 * All fields of an object, including nested ones, but not the revision that only the panel needs. Numbers are shown in the
 * units that the fields' names end with.
 */
export function RecordFacts({ record, group }: { record: object; group?: string }) {
  const fields = Object.entries(record).filter(([name]) => name !== 'etag');
  const facts = fields.map(([name, value]) => [
    getFieldLabel(name, group),
    typeof value === 'number' ? formatFieldNumber(name, value, group) : formatValue(name, value),
  ]);
  return <Facts facts={Object.fromEntries(facts) as Record<string, ReactNode>} />;
}

function formatValue(name: string, value: unknown): ReactNode {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value)) {
    if (value.length === 0) return 'none';
    const isPlain = value.every((item) => typeof item !== 'object');
    return isPlain
      ? value.join(', ')
      : value.map((item: object, index) => <RecordFacts key={index} record={item} group={name} />);
  }
  if (typeof value === 'object') return <RecordFacts record={value} group={name} />;
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) {
    return <TimeText time={value} />;
  }
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return String(value as string | number);
}
