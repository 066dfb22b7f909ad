import { Alert, Button } from '@mui/material';
import { useState } from 'react';
import { Form, Notification, PasswordInput, required, TextInput, useLogin } from 'react-admin';
import { codeOf, messageOf } from '../api/problem.ts';
import { Gate } from './gate.tsx';

/** Asks for e-mail and password, and for a one-time code where the account wants one. */
export function SignInPage() {
  const login = useLogin();
  const [needsCode, setNeedsCode] = useState(false);
  const [refusal, setRefusal] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  async function signIn(values: object): Promise<void> {
    setBusy(true);
    setRefusal(undefined);
    try {
      await login(values);
    } catch (error) {
      if (codeOf(error) === 'code_required') setNeedsCode(true);
      else setRefusal(messageOf(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <Gate title="Sign in">
      <Form onSubmit={signIn} noValidate>
        <TextInput
          source="email"
          type="email"
          label="E-mail"
          autoComplete="username"
          validate={required()}
          autoFocus
        />
        <PasswordInput
          source="password"
          label="Password"
          autoComplete="current-password"
          validate={required()}
        />
        {needsCode && (
          <TextInput
            source="code"
            label="One-time code"
            helperText="The six digits that your authenticator app shows now."
            autoComplete="one-time-code"
            slotProps={{ htmlInput: { inputMode: 'numeric' } }}
            validate={required()}
            autoFocus
          />
        )}
        {refusal !== undefined && <Alert severity="error">{refusal}</Alert>}
        <Button type="submit" variant="contained" fullWidth disabled={isBusy} sx={{ marginTop: 2 }}>
          Sign in
        </Button>
      </Form>
      <Notification />
    </Gate>
  );
}
