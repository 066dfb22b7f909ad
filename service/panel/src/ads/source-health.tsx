import { Alert } from '@mui/material';
import type { Source } from '@trueward/protocol/wire';
import { lazy, Suspense } from 'react';
import { Loading } from 'react-admin';
import { readMessage } from '../api/problem.ts';
import { useRead } from '../api/use-call.ts';
import { Facts } from '../common/facts.tsx';
import { PanelCard } from '../common/page.tsx';

interface Counts {
  requests: number;
  bids: number;
  wins: number;
  timeouts: number;
  errors: number;
}

/** Lazy-loaded, because the chart library is larger than the rest of the page. */
const Plot = lazy(async () => ({
  default: (await import('../common/plot.tsx')).Plot<keyof Counts>,
}));

interface Health {
  /** The last 24 hours, oldest first. */
  hours: (Counts & { hour: string })[];
  latency_ms?: { p50: number; p95: number; p99: number };
  open_hosts: string[];
}

const lines = [
  { name: 'requests', label: 'Requests' },
  { name: 'bids', label: 'Ads' },
  { name: 'wins', label: 'Shown' },
] as const;

/** Shows an external source's fill rate, errors and latency over the last 24 hours. */
export function SourceHealth({ id }: Pick<Source, 'id'>) {
  const { data, error } = useRead<Health>(`/panel/api/sources/${id}/health`, {
    refetchInterval: 10_000,
  });
  if (error)
    return <Alert severity="error">Could not load the source’s health. {readMessage(error)}</Alert>;
  if (!data) return <Loading />;
  const total = sumHours(data.hours);
  const { latency_ms: latency, open_hosts: openHosts } = data;
  return (
    <>
      <PanelCard title="Health, last 24 hours">
        {openHosts.length > 0 && (
          <Alert severity="warning" sx={{ marginBottom: 1 }}>
            The process that serves this page has paused requests to {openHosts.join(', ')}, because
            half of the recent ones failed. It retries every ten seconds.
          </Alert>
        )}
        {total.requests === 0 ? (
          <Alert severity="info">No decision has called this source yet.</Alert>
        ) : (
          <Facts
            facts={{
              Requests: numberFormat.format(total.requests),
              'Fill rate': formatPercent(total.bids, total.requests),
              'Win rate': `${formatPercent(total.wins, total.bids)} of its ads`,
              Timeouts: formatPercent(total.timeouts, total.requests),
              Errors: formatPercent(total.errors, total.requests),
              Latency:
                latency && `p50 ${latency.p50} ms, p95 ${latency.p95} ms, p99 ${latency.p99} ms`,
              'Circuit breaker': openHosts.length === 0 ? 'closed' : 'open',
            }}
          />
        )}
      </PanelCard>
      {total.requests > 0 && (
        <Suspense fallback={<Loading />}>
          <Plot
            title="Requests and ads"
            unit=""
            lines={lines}
            points={data.hours.map(({ hour, ...counts }) => ({ period: hour, ...counts }))}
            interval="hour"
          />
        </Suspense>
      )}
    </>
  );
}

const numberFormat = new Intl.NumberFormat();

const formatPercent = (part: number, whole: number): string =>
  whole === 0 ? '–' : `${Math.round((part / whole) * 1_000) / 10}%`;

const sumHours = (hours: readonly Counts[]): Counts => {
  const total = (name: keyof Counts): number => hours.reduce((sum, hour) => sum + hour[name], 0);
  return {
    requests: total('requests'),
    bids: total('bids'),
    wins: total('wins'),
    timeouts: total('timeouts'),
    errors: total('errors'),
  };
};
