import { type RaRecord, SimpleForm, type SimpleFormProps, useRecordContext } from 'react-admin';
import type { Shown } from '../api/data-provider.ts';
import { FirstError } from './first-error.tsx';

/**
 * A form that warns before unsaved input is lost, and leads to the first field with an error. A stored record's form waits
 * for its revision, which the row of a list doesn't have: a change without it could undo another one, and the record that
 * arrives while it is saved would make it look unsaved.
 */
export function PanelForm({ children, ...props }: SimpleFormProps) {
  const record = useRecordContext<Shown<RaRecord>>();
  if (record?.id !== undefined && record.etag === undefined) return null;
  return (
    <SimpleForm warnWhenUnsavedChanges {...props}>
      {children}
      <FirstError />
    </SimpleForm>
  );
}
