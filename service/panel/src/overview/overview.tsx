import { ranges, type RangeName, sumRevenue, type TimeRange } from './figures.ts';
import DownloadIcon from '@mui/icons-material/Download';
import { Alert, Box, Button, FormControlLabel, Switch } from '@mui/material';
import { lazy, Suspense, useState } from 'react';
import { Loading } from 'react-admin';
import { useEnvironment } from '../api/environment.ts';
import { useAction } from '../api/use-call.ts';
import { ChoiceField } from '../common/choices.tsx';
import { Page } from '../common/page.tsx';
import { FailedDeliveries } from './failed-deliveries.tsx';
import { FigureTiles } from './figure-tiles.tsx';
import { Mistakes } from './mistakes.tsx';
import { TopPlacements, NoAdReasons } from './top-placements.tsx';
import { reportPath, useFigures } from './use-figures.ts';

/** Lazy-loaded after the figures, because the chart library is larger than the rest of the page. */
const Plots = lazy(async () => ({ default: (await import('./plots.tsx')).Plots }));

const choices = Object.entries(ranges).map(([id, { name }]) => ({ id, name }));

/** Requests, impressions, rewards and failed deliveries in a time range. */
export function Overview() {
  const [rangeName, setRangeName] = useState<RangeName>('week');
  const [isComparing, setIsComparing] = useState(false);
  const figures = useFigures(rangeName, isComparing);
  return (
    <Page title="Overview">
      <Box sx={{ display: 'flex', flexWrap: 'wrap', gap: 2, alignItems: 'center' }}>
        <ChoiceField
          label="Time range (UTC)"
          choices={choices}
          value={rangeName}
          onChange={(name) => setRangeName(name as RangeName)}
        />
        <FormControlLabel
          control={
            <Switch checked={isComparing} onChange={(_event, checked) => setIsComparing(checked)} />
          }
          label="Compare with previous period"
        />
        <DownloadCsv range={figures.range} />
      </Box>
      {figures.error && (
        <Alert severity="error">Could not load the figures. {figures.error.message}</Alert>
      )}
      {figures.isPending && <Loading />}
      {figures.hasData && (
        <>
          {figures.total.requests === 0 && (
            <Alert severity="info">
              No ad requests in this period. Figures appear after the first request.
            </Alert>
          )}
          <FigureTiles
            current={figures.total}
            previous={figures.previousTotal}
            revenue={sumRevenue(figures.rows)}
            previousRevenue={figures.previousRows && sumRevenue(figures.previousRows)}
          />
          <Suspense fallback={<Loading />}>
            <Plots points={figures.points} interval={figures.range.interval} />
          </Suspense>
          <Box sx={columnsStyle}>
            <TopPlacements rows={figures.rows} />
            <NoAdReasons rows={figures.rows} />
          </Box>
          <Mistakes />
          <FailedDeliveries />
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

/** Downloads the report for the time range. */
function DownloadCsv({ range }: { range: TimeRange }) {
  const { environment } = useEnvironment();
  const { run, isRunning } = useAction<string>({ onSuccess: save, refetches: false });
  function save(csv: string): void {
    const url = URL.createObjectURL(new Blob([csv], { type: 'text/csv' }));
    const day = range.from.toISOString().slice(0, 10);
    const link = Object.assign(document.createElement('a'), {
      href: url,
      download: `trueward-${environment}-${day}.csv`,
    });
    link.click();
    URL.revokeObjectURL(url);
  }
  return (
    <Button
      startIcon={<DownloadIcon />}
      disabled={isRunning}
      onClick={() => run(reportPath(range, 'csv'), { method: 'GET' })}
    >
      CSV
    </Button>
  );
}
