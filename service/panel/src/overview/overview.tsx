import { Alert, Box, FormControlLabel, Switch } from '@mui/material';
import { lazy, Suspense, useState } from 'react';
import { Loading } from 'react-admin';
import { ChoiceField } from '../common/choice-field.tsx';
import { Page } from '../common/page.tsx';
import { DownloadCsv } from './download-csv.tsx';
import { FailingDeliveries } from './failing-deliveries.tsx';
import { FigureTiles } from './figure-tiles.tsx';
import { NoAdReasons } from './no-ad-reasons.tsx';
import { type RangeName, ranges } from './time-range.ts';
import { TopPlacements } from './top-placements.tsx';
import { useFigures } from './use-figures.ts';

/** The library that draws is larger than the page: it comes after the figures. */
const Plots = lazy(async () => ({ default: (await import('./plots.tsx')).Plots }));

const choices = Object.entries(ranges).map(([id, { name }]) => ({ id, name }));

/** How the account does: what was asked, shown and rewarded, and what failed. */
export function Overview() {
  const [rangeName, setRangeName] = useState<RangeName>('week');
  const [compares, setCompares] = useState(false);
  const figures = useFigures(rangeName, compares);
  return (
    <Page title="Overview">
      <Box sx={{ display: 'flex', flexWrap: 'wrap', gap: 2, alignItems: 'center' }}>
        <ChoiceField
          label="Time (UTC)"
          choices={choices}
          value={rangeName}
          onChange={(name) => setRangeName(name as RangeName)}
        />
        <FormControlLabel
          control={
            <Switch checked={compares} onChange={(_event, checked) => setCompares(checked)} />
          }
          label="Compare with previous period"
        />
        <DownloadCsv range={figures.range} />
      </Box>
      {figures.error && (
        <Alert severity="error">The figures could not be loaded. {figures.error.message}</Alert>
      )}
      {figures.isPending && <Loading />}
      {figures.hasData && (
        <>
          {figures.total.requests === 0 && (
            <Alert severity="info">
              No ad requests in this period. Figures appear with the first request.
            </Alert>
          )}
          <FigureTiles now={figures.total} before={figures.totalBefore} />
          <Suspense fallback={<Loading />}>
            <Plots points={figures.points} interval={figures.range.interval} />
          </Suspense>
          <Box sx={columnsStyle}>
            <TopPlacements rows={figures.rows} />
            <NoAdReasons rows={figures.rows} />
          </Box>
          <FailingDeliveries />
        </>
      )}
    </Page>
  );
}

const columnsStyle = {
  display: 'grid',
  gap: 2,
  gridTemplateColumns: { xs: 'minmax(0, 1fr)', md: 'repeat(2, minmax(0, 1fr))' },
  alignItems: 'start',
};
