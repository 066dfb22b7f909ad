import { Alert } from '@mui/material';
import { useEffect } from 'react';
import { useFormContext, useFormState, useWatch } from 'react-hook-form';

/** What is wrong with a group of fields as a whole, until one of them is changed. */
export function GroupError({ source }: { source: string }) {
  const { clearErrors } = useFormContext();
  const { errors } = useFormState({ name: source });
  const value: unknown = useWatch({ name: source });
  const text = JSON.stringify(value);
  useEffect(() => clearErrors(source), [clearErrors, source, text]);
  const message = errors[source]?.message;
  return typeof message === 'string' ? (
    <Alert severity="error" sx={{ marginBlock: 1 }}>
      {message}
    </Alert>
  ) : null;
}
