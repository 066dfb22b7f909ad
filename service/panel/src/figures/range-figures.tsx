import DownloadIcon from '@mui/icons-material/Download';
import { Alert, Box, Button, FormControlLabel, Switch } from '@mui/material';
import type { ReportRow } from '@trueward/protocol/wire';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { Loading } from 'react-admin';
import { useEnvironment } from '../api/environment.ts';
import { useAction } from '../api/use-call.ts';
import { ChoiceField } from '../common/choices.tsx';
import { FigureTiles } from './figure-tiles.tsx';
import {
  type RangeName,
  ranges,
  reportPath,
  type Subject,
  sumRevenue,
  type TimeRange,
} from './figures.ts';
import { useFigures } from './use-figures.ts';

/** Lazy-loaded after the figures, because the chart library is larger than the rest of the page. */
const Plots = lazy(async () => ({ default: (await import('./plots.tsx')).Plots }));

const choices = Object.entries(ranges).map(([id, { name }]) => ({ id, name }));

interface Props {
  /** Default: the environment. */
  subject?: Subject;
  /** What follows the plots. */
  children?(rows: readonly ReportRow[], range: TimeRange): ReactNode;
}

/** The figures for a time range that the user chooses: totals and plots, also compared and as CSV. */
export function RangeFigures({ subject, children }: Props) {
  const [rangeName, setRangeName] = useState<RangeName>('week');
  const [isComparing, setIsComparing] = useState(false);
  const figures = useFigures(rangeName, isComparing, subject);
  return (
    <Box sx={{ display: 'grid', gap: 2, gridTemplateColumns: 'minmax(0, 1fr)' }}>
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
        <DownloadCsv range={figures.range} subject={subject} />
      </Box>
      {figures.error && (
        <Alert severity="error">Could not load the figures. {figures.error.message}</Alert>
      )}
      {figures.isPending && <Loading />}
      {figures.hasData && (
        <>
          {figures.total.requests === 0 && (
            <Alert severity="info">
              {subject === undefined
                ? 'No ad requests in this period. Figures appear after the first request.'
                : 'Nothing has been counted in this period.'}
            </Alert>
          )}
          <FigureTiles
            subject={subject}
            current={figures.total}
            previous={figures.previousTotal}
            revenue={sumRevenue(figures.rows)}
            previousRevenue={figures.previousRows && sumRevenue(figures.previousRows)}
          />
          <Suspense fallback={<Loading />}>
            <Plots subject={subject} points={figures.points} interval={figures.range.interval} />
          </Suspense>
          {children?.(figures.rows, figures.range)}
        </>
      )}
    </Box>
  );
}

/** Downloads the report for the time range. */
function DownloadCsv({ range, subject }: { range: TimeRange; subject: Subject | undefined }) {
  const { environment } = useEnvironment();
  const { run, isRunning } = useAction<string>({ onSuccess: save, refetches: false });
  function save(csv: string): void {
    const url = URL.createObjectURL(new Blob([csv], { type: 'text/csv' }));
    const day = range.from.toISOString().slice(0, 10);
    const about = subject === undefined ? '' : `-${subject.value}`;
    const link = Object.assign(document.createElement('a'), {
      href: url,
      download: `trueward-${environment}${about}-${day}.csv`,
    });
    link.click();
    URL.revokeObjectURL(url);
  }
  return (
    <Button
      startIcon={<DownloadIcon />}
      disabled={isRunning}
      onClick={() => run(reportPath(range, subject, 'csv'), { method: 'GET' })}
    >
      CSV
    </Button>
  );
}
