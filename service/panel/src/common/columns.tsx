import { DataTable, useRecordContext } from 'react-admin';
import { at } from '../api/select-page.ts';
import { StatusChip } from './status-chip.tsx';
import { TimeText } from './time-text.tsx';

interface ColumnProps {
  source: string;
  label: string;
}

/** A column with a status. */
export function StatusColumn({ source, label }: ColumnProps) {
  return (
    <DataTable.Col source={source} label={label}>
      <StatusValue source={source} />
    </DataTable.Col>
  );
}

/** A column with a time. */
export function TimeColumn({ source, label }: ColumnProps) {
  return (
    <DataTable.Col source={source} label={label}>
      <TimeValue source={source} />
    </DataTable.Col>
  );
}

function StatusValue({ source }: { source: string }) {
  const value = at(useRecordContext() ?? {}, source);
  return typeof value === 'string' ? <StatusChip status={value} /> : null;
}

function TimeValue({ source }: { source: string }) {
  const value = at(useRecordContext() ?? {}, source);
  return <TimeText time={typeof value === 'string' ? value : undefined} />;
}
