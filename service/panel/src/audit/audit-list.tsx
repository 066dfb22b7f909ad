import { Box } from '@mui/material';
import type { AuditEntry } from '@trueward/protocol/wire';
import { DataTable, List, TextInput } from 'react-admin';
import { NothingYet } from '../common/nothing-yet.tsx';
import { TimeColumn } from '../common/columns.tsx';
import { inWords } from '../common/status-chip.tsx';
import { differences } from './differences.ts';

const filters = [<TextInput key="target" source="target_id" label="Id of an object" alwaysOn />];

/** Who changed what, and what it was before. */
export const AuditList = () => (
  <List
    filters={filters}
    exporter={false}
    empty={<NothingYet>Nothing has been changed here yet.</NothingYet>}
    perPage={25}
    sort={{ field: 'created_at', order: 'DESC' }}
  >
    <DataTable bulkActionButtons={false} rowClick={false}>
      <TimeColumn source="created_at" label="When" />
      <DataTable.Col source="actor" label="Who" disableSort />
      <DataTable.Col
        label="What"
        render={(entry) => inWords((entry as AuditEntry).action).replace('.', ' ')}
      />
      <DataTable.Col source="target_id" label="To what" disableSort />
      <DataTable.Col label="Changes" render={(entry) => <Changes entry={entry as AuditEntry} />} />
    </DataTable>
  </List>
);

function Changes({ entry: { before, after } }: { entry: AuditEntry }) {
  const changes = differences(before, after);
  if (changes.length === 0) return <>–</>;
  return (
    <details>
      <summary>{changes.map(({ name }) => inWords(name)).join(', ')}</summary>
      {changes.map(({ name, from, to }) => (
        <Box key={name} sx={{ overflowWrap: 'anywhere', maxWidth: 480 }}>
          {inWords(name)}: {from !== undefined && <del>{from}</del>}{' '}
          {to !== undefined && <ins>{to}</ins>}
        </Box>
      ))}
    </details>
  );
}
