import { Box, Typography } from '@mui/material';
import type { ApiKey, AuditEntry } from '@trueward/protocol/wire';
import type { ReactNode } from 'react';
import {
  DataTable,
  downloadCSV,
  List,
  SelectInput,
  TextInput,
  useGetManyAggregate,
} from 'react-admin';
import { makeChoices } from '../common/choices.tsx';
import { ListError } from '../resource/resource-pages.tsx';
import { oneLine } from '../common/columns.tsx';
import { humanize } from '../common/status-chip.tsx';
import { TimeInput, TimeText } from '../common/time.tsx';
import { getTargetName, writeAuditCsv } from './audit-csv.ts';
import { findDifferences } from './differences.ts';

/** The object types to filter by. Each action begins with its object's type. */
const subjects = makeChoices(
  'placement',
  'house_ad',
  'creative',
  'media',
  'advertiser',
  'source',
  'kill_switch',
  'policy',
  'ad_rule',
  'webhook',
  'key',
  'user',
).map(({ id, name }) => ({ id: `${id}.`, name }));

const filters = [
  <TextInput key="actor" source="actor" label="Actor" alwaysOn />,
  <SelectInput key="action" source="action" label="Type" choices={subjects} alwaysOn />,
  <TextInput key="target" source="target_id" label="Object ID" alwaysOn />,
  <TimeInput key="from" source="from" label="From" alwaysOn />,
  <TimeInput key="to" source="to" label="To" alwaysOn />,
];

/** Downloads the entries that the filter selects. */
const exportEntries = (entries: readonly AuditEntry[]): void =>
  downloadCSV(writeAuditCsv(entries), 'audit-log');

/** The audit log. */
export const AuditList = () => (
  <List
    filters={filters}
    exporter={exportEntries}
    empty={<EmptyList>No changes yet.</EmptyList>}
    error={
      <ListError>
        <Entries />
      </ListError>
    }
    perPage={25}
    sort={{ field: 'created_at', order: 'DESC' }}
  >
    <Entries />
  </List>
);

const Entries = () => (
  <DataTable bulkActionButtons={false} rowClick={false}>
    <DataTable.Col
      label="Time"
      render={(entry) => <TimeText time={(entry as AuditEntry).created_at} />}
    />
    <DataTable.Col label="Actor" render={({ actor }) => <Actor actor={actor as string} />} />
    <DataTable.Col
      label="Action"
      render={(entry) => humanize((entry as AuditEntry).action).replace('.', ' ')}
    />
    <DataTable.Col label="Object" render={(entry) => <Target entry={entry as AuditEntry} />} />
    <DataTable.Col label="Changes" render={(entry) => <Changes entry={entry as AuditEntry} />} />
  </DataTable>
);

/** Who made a change: a user's e-mail, or a key's name, with its id on hover. */
function Actor({ actor }: { actor: string }) {
  const { data: keys } = useGetManyAggregate<ApiKey>('keys', {
    ids: actor.startsWith('key_') ? [actor] : [],
  });
  const [key] = keys ?? [];
  return (
    <Box title={actor} sx={{ ...oneLine, maxWidth: 180 }}>
      {key ? `${key.name ?? key.kind} …${key.last_four}` : actor}
    </Box>
  );
}

/**
 * Shows the object's name at the time of the change, if it had one, and its id, by which the list can be filtered.
 */
function Target({ entry: { before, after, target_id: id } }: { entry: AuditEntry }) {
  const displayName = getTargetName(before, after);
  return (
    <>
      {displayName !== undefined && (
        <Box title={displayName} sx={{ ...oneLine, maxWidth: 160, display: 'block' }}>
          {displayName}
        </Box>
      )}
      <Box
        component="code"
        title={id}
        sx={{ ...oneLine, maxWidth: 160, display: 'block', fontSize: '0.75rem' }}
      >
        {id}
      </Box>
    </>
  );
}

function Changes({ entry: { before, after } }: { entry: AuditEntry }) {
  const changes = findDifferences(before, after);
  if (changes.length === 0) return <>–</>;
  return (
    <details>
      <summary>{changes.map(({ name }) => name).join(', ')}</summary>
      {changes.map(({ name, from, to }) => (
        <Box key={name} sx={{ overflowWrap: 'anywhere', maxWidth: 480 }}>
          {name}: {from !== undefined && <del>{from}</del>} {to !== undefined && <ins>{to}</ins>}
        </Box>
      ))}
    </details>
  );
}

/** The placeholder for an empty list. */
const EmptyList = ({ children }: { children: ReactNode }) => (
  <Typography sx={{ padding: 3, textAlign: 'center', color: 'text.secondary' }}>
    {children}
  </Typography>
);
