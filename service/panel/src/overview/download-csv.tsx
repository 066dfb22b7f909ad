import DownloadIcon from '@mui/icons-material/Download';
import { Button } from '@mui/material';
import { useEnvironment } from '../api/environment.ts';
import { useAction } from '../api/use-call.ts';
import type { TimeRange } from './time-range.ts';
import { reportPath } from './use-figures.ts';

/** Hands over the report of the range as a file. */
export function DownloadCsv({ range }: { range: TimeRange }) {
  const { environment } = useEnvironment();
  const { run, isRunning } = useAction<string>({ onDone: save, changes: false });
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
