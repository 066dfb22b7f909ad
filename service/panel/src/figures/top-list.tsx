import {
  Link,
  Table,
  TableBody,
  TableCell,
  TableHead,
  TableRow,
  TableSortLabel,
  Typography,
} from '@mui/material';
import { useState } from 'react';
import { type RaRecord, useGetManyAggregate } from 'react-admin';
import { Link as RouterLink } from 'react-router';
import { query } from '../api/resources.ts';
import { useRead } from '../api/use-call.ts';
import { ChoiceField } from '../common/choices.tsx';
import { PanelCard, WideContent } from '../common/page.tsx';
import { dimensions, isAd, type Subject, type TimeRange } from './figures.ts';

type Count = 'requests' | 'filled' | 'impressions' | 'clicks' | 'rewards_earned';
type TopRow = Record<Count, number> & { value: string };

const kinds = [
  { id: 'placements', name: 'Placements' },
  { id: 'house-ads', name: 'House ads' },
  { id: 'creatives', name: 'Creatives' },
  { id: 'advertisers', name: 'Advertisers' },
  { id: 'sources', name: 'Sources' },
];

/** The figures of placements begin with the game's request, and those of ads when they are chosen. */
const firstColumn = (kind: string, subject: Subject | undefined): [Count, string] =>
  kind === 'placements' && !isAd(subject) ? ['requests', 'Requests'] : ['filled', 'Times chosen'];

const columns: readonly [Count, string][] = [
  ['impressions', 'Impressions'],
  ['clicks', 'Clicks'],
  ['rewards_earned', 'Rewards'],
];

const cellStyle = {
  '& td, & th': { minWidth: 0, paddingInline: 1 },
  '& td:first-of-type': { minWidth: 96 },
};

interface Props {
  range: TimeRange;
  /** Counts only what this object took part in, by placement. Default: everything, by any kind of object. */
  subject?: Subject | undefined;
}

/** The objects with the highest counts in a time range, ranked by any of the counts. */
export function TopList({ range, subject }: Props) {
  const [kind, setKind] = useState('placements');
  const [by, setBy] = useState<Count>('impressions');
  const allColumns = [firstColumn(kind, subject), ...columns];
  const ranking = allColumns.some(([count]) => count === by) ? by : 'impressions';
  const { data } = useRead<{ data: TopRow[] }>(
    query('/panel/api/top', {
      from: range.from.toISOString(),
      to: range.to.toISOString(),
      dimension: dimensions[kind],
      by: ranking,
      ...(subject && { [subject.dimension]: subject.value }),
    }),
  );
  const rows = data?.data ?? [];
  return (
    <PanelCard
      title={subject === undefined ? 'Top' : 'Top placements'}
      action={
        subject === undefined && (
          <ChoiceField label="Of" choices={kinds} value={kind} onChange={setKind} />
        )
      }
    >
      {data && rows.length === 0 && <Typography>Nothing was counted in this period.</Typography>}
      {rows.length > 0 && (
        <WideContent name="Top">
          <Table size="small" sx={cellStyle}>
            <TableHead>
              <TableRow>
                <TableCell>Name</TableCell>
                {allColumns.map(([count, label]) => (
                  <TableCell
                    key={count}
                    align="right"
                    sortDirection={ranking === count ? 'desc' : false}
                  >
                    <TableSortLabel
                      active={ranking === count}
                      direction="desc"
                      hideSortIcon
                      onClick={() => setBy(count)}
                    >
                      {label}
                    </TableSortLabel>
                  </TableCell>
                ))}
              </TableRow>
            </TableHead>
            <TableBody>
              {rows.map((row) => (
                <TableRow key={row.value}>
                  <TableCell>
                    <ObjectName kind={kind} value={row.value} />
                  </TableCell>
                  {allColumns.map(([count]) => (
                    <TableCell key={count} align="right">
                      {row[count].toLocaleString()}
                    </TableCell>
                  ))}
                </TableRow>
              ))}
            </TableBody>
          </Table>
        </WideContent>
      )}
    </PanelCard>
  );
}

/** A placement's name as it is counted, or another object's name and a link to it. React-admin joins the requests. */
function ObjectName({ kind, value }: { kind: string; value: string }) {
  const isPlacement = kind === 'placements';
  const { data } = useGetManyAggregate<RaRecord>(
    kind,
    { ids: isPlacement ? [] : [value] },
    { enabled: !isPlacement },
  );
  if (isPlacement) return <>{value}</>;
  const name: unknown = data?.[0]?.['name'];
  return (
    <Link component={RouterLink} to={`/${kind}/${value}`}>
      {typeof name === 'string' ? name : value}
    </Link>
  );
}
