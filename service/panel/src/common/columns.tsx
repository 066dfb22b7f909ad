import { Link } from '@mui/material';
import type { ReactNode } from 'react';
import {
  DataTable,
  useCanAccess,
  useCreatePath,
  useRecordContext,
  useResourceContext,
} from 'react-admin';
import { Link as RouterLink } from 'react-router';
import { readValue } from '../api/select-page.ts';
import { StatusChip } from './status-chip.tsx';
import { TimeText } from './time.tsx';

/** A column that a phone's screen has no room for. The object's page shows its value too. */
export const wideOnly = { cellClassName: 'wide-only', headerClassName: 'wide-only' };

interface ColumnProps {
  source: string;
  label: string;
}

/** A column that shows a status. */
export function StatusColumn({ source, label }: ColumnProps) {
  return (
    <DataTable.Col source={source} label={label}>
      <StatusValue source={source} />
    </DataTable.Col>
  );
}

/** A column that shows a time. */
export function TimeColumn({ source, label }: ColumnProps) {
  return (
    <DataTable.Col source={source} label={label}>
      <TimeValue source={source} />
    </DataTable.Col>
  );
}

function StatusValue({ source }: { source: string }) {
  const value = readValue(useRecordContext() ?? {}, source);
  return typeof value === 'string' ? <StatusChip status={value} /> : null;
}

function TimeValue({ source }: { source: string }) {
  const value = readValue(useRecordContext() ?? {}, source);
  return <TimeText time={typeof value === 'string' ? value : undefined} />;
}

/** The name column. Names are links, so that rows can be opened with the keyboard. */
export function NameColumn({ source, label }: { source: string; label: string }) {
  return (
    <DataTable.Col source={source} label={label}>
      <NameLink source={source} />
    </DataTable.Col>
  );
}

function NameLink({ source }: { source: string }) {
  const name = String(useRecordContext()?.[source]);
  return <RecordLink title={name}>{name}</RecordLink>;
}

/** A link to the current record. With a title, it is truncated. */
export function RecordLink({ title, children }: { title?: string; children: ReactNode }) {
  const record = useRecordContext();
  const resource = useResourceContext() ?? '';
  const type = useRowClick();
  const createPath = useCreatePath();
  if (!record) return null;
  return (
    <Link
      component={RouterLink}
      to={createPath({ resource, id: record.id, type })}
      {...(title !== undefined && { title, sx: oneLine })}
    >
      {children}
    </Link>
  );
}

/** Truncates long text, so that it doesn't push other columns off the screen. */
export const oneLine = {
  display: 'inline-block',
  maxWidth: { xs: 144, sm: 200, md: 320 },
  overflow: 'hidden',
  textOverflow: 'ellipsis',
  whiteSpace: 'nowrap',
  verticalAlign: 'bottom',
};

/** Returns the page that a row click opens: the form if the user may edit the object, otherwise the read-only page. */
export function useRowClick(): 'edit' | 'show' {
  const resource = useResourceContext() ?? '';
  const { canAccess } = useCanAccess({ resource, action: 'edit' });
  return canAccess === true ? 'edit' : 'show';
}
