import { Alert, TextField } from '@mui/material';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { readMessage } from '../api/problem.ts';
import { FormDialog } from '../common/dialogs.tsx';
import type { Session } from './session.ts';
import { ProviderConfirmation } from './single-sign-on.tsx';

/** Prompts for the password before a dangerous change, which then continues. */
export function ConfirmationDialog({ session }: { session: Session }) {
  const isAsking = useSyncExternalStore(session.subscribe, session.isAsking);
  return isAsking ? <EnterPassword session={session} /> : null;
}

function EnterPassword({ session }: { session: Session }) {
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [needsCode, setNeedsCode] = useState(false);
  const [message, setMessage] = useState('');
  useEffect(() => {
    void session.read().then(({ user }) => setNeedsCode(user.code_enabled ?? false));
  }, [session]);
  const confirm = (): void => {
    const credentials = { password, ...(code === '' ? {} : { code }) };
    session.confirm(credentials).catch((error: unknown) => setMessage(readMessage(error)));
  };
  return (
    <FormDialog
      title="Enter your password again"
      text="This change needs a password entered within the last ten minutes."
      confirm="Continue"
      isReady={password !== ''}
      onConfirm={confirm}
      onClose={() => void session.confirm(undefined)}
    >
      {message !== '' && <Alert severity="error">{message}</Alert>}
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        autoFocus
        value={password}
        onChange={({ target }) => setPassword(target.value)}
      />
      {needsCode && (
        <TextField
          label="One-time code"
          autoComplete="one-time-code"
          value={code}
          onChange={({ target }) => setCode(target.value)}
        />
      )}
      <ProviderConfirmation session={session} />
    </FormDialog>
  );
}
