import { Alert, MenuItem, TextField } from '@mui/material';
import { useState } from 'react';
import { type RaRecord, useCreate, useCreateSuggestionContext } from 'react-admin';
import { messageOf } from '../api/problem.ts';
import { AskDialog } from './ask-dialog.tsx';

interface Field {
  source: string;
  label: string;
  helperText?: string;
  /** Absent: any text. */
  choices?: readonly { id: string; name: string }[];
}

interface Props {
  resource: string;
  /** What one of them is called: `advertiser`. */
  noun: string;
  /** What it needs beside a name. */
  field: Field;
}

/** Makes what is missing from a list of choices, without leaving the form that needs it. */
export function InlineCreate({ resource, noun, field }: Props) {
  const { filter = '', onCreate, onCancel } = useCreateSuggestionContext();
  const [create, { isPending, error }] = useCreate<RaRecord>();
  const [name, setName] = useState(filter);
  const [value, setValue] = useState('');
  const { choices } = field;
  return (
    <AskDialog
      title={`New ${noun}`}
      text={`It can be used at once, and changed later under ${resource}.`}
      confirm={`Create ${noun}`}
      isReady={!isPending && name.trim() !== '' && value.trim() !== ''}
      onConfirm={() =>
        void create(
          resource,
          { data: { name: name.trim(), [field.source]: value.trim() } },
          { onSuccess: (made) => onCreate(made) },
        )
      }
      onClose={onCancel}
    >
      {error !== null && <Alert severity="error">{messageOf(error)}</Alert>}
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
    </AskDialog>
  );
}
