import { Alert, MenuItem, TextField } from '@mui/material';
import { useState } from 'react';
import { type RaRecord, useCreate, useCreateSuggestionContext } from 'react-admin';
import { readMessage } from '../api/problem.ts';
import { FormDialog } from './dialogs.tsx';

interface Field {
  source: string;
  label: string;
  helperText?: string;
  /** The choices. Undefined for free text. */
  choices?: readonly { id: string; name: string }[];
}

interface Props {
  resource: string;
  /** The noun for messages, such as `advertiser`. */
  noun: string;
  /** The required field besides the name. */
  field: Field;
}

/** Lets the user create a new option without leaving the form. */
export function InlineCreate({ resource, noun, field }: Props) {
  const { filter = '', onCreate, onCancel } = useCreateSuggestionContext();
  const [create, { isPending, error }] = useCreate<RaRecord>();
  const [name, setName] = useState(filter);
  const [value, setValue] = useState('');
  const { choices } = field;
  return (
    <FormDialog
      title={`New ${noun}`}
      text={`You can use it right away, and edit it later under ${resource}.`}
      confirm={`Create ${noun}`}
      isReady={!isPending && name.trim() !== '' && value.trim() !== ''}
      onConfirm={() =>
        void create(
          resource,
          { data: { name: name.trim(), [field.source]: value.trim() } },
          { onSuccess: (newRecord) => onCreate(newRecord) },
        )
      }
      onClose={onCancel}
    >
      {error !== null && <Alert severity="error">{readMessage(error)}</Alert>}
      <TextField
        label="Name"
        required
        autoFocus
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <TextField
        label={field.label}
        helperText={field.helperText}
        required
        select={choices !== undefined}
        value={value}
        onChange={({ target }) => setValue(target.value)}
      >
        {choices?.map((choice) => (
          <MenuItem key={choice.id} value={choice.id}>
            {choice.name}
          </MenuItem>
        ))}
      </TextField>
    </FormDialog>
  );
}
