import { Alert, Button } from '@mui/material';
import { useState } from 'react';
import { Form, PasswordInput, required, TextInput } from 'react-admin';
import { codeOf, messageOf, retryAfterOf } from '../api/problem.ts';
import { Countdown } from '../common/countdown.tsx';
import type { Credentials } from './session.ts';

interface Props {
  /** Whose session has ended; absent: anybody may sign in. */
  email?: string | undefined;
  onSignIn(credentials: Credentials): Promise<unknown>;
}

interface Refusal {
  text: string;
  waitS: number | undefined;
}

/** Asks for e-mail and password, and for a one-time code where the user has turned them on. */
export function SignInForm({ email, onSignIn }: Props) {
  const [needsCode, setNeedsCode] = useState(false);
  const [refusal, setRefusal] = useState<Refusal>();
  const [isBusy, setBusy] = useState(false);

  async function signIn(values: object): Promise<void> {
    setBusy(true);
    setRefusal(undefined);
    try {
      await onSignIn(values as Credentials);
    } catch (error) {
      if (codeOf(error) === 'code_required') setNeedsCode(true);
      else setRefusal({ text: messageOf(error), waitS: retryAfterOf(error) });
    } finally {
      setBusy(false);
    }
  }

  return (
    <Form onSubmit={signIn} noValidate defaultValues={email === undefined ? {} : { email }}>
      <TextInput
        source="email"
        type="email"
        label="E-mail"
        autoComplete="username"
        validate={required()}
        autoFocus={email === undefined}
      />
      <PasswordInput
        source="password"
        label="Password"
        autoComplete="current-password"
        validate={required()}
        autoFocus={email !== undefined}
      />
      {needsCode && (
        <TextInput
          source="code"
          label="One-time code"
          helperText="The six-digit code from your authenticator app."
          autoComplete="one-time-code"
          slotProps={{ htmlInput: { inputMode: 'numeric' } }}
          validate={required()}
          autoFocus
        />
      )}
      {refusal && (
        <Alert severity="error">
          {refusal.waitS === undefined ? (
            refusal.text
          ) : (
            <Countdown
              seconds={refusal.waitS}
              text={(left) => `Too many failed attempts. Try again in ${left} s.`}
              done="You can try again now."
            />
          )}
        </Alert>
      )}
      <Button type="submit" variant="contained" fullWidth disabled={isBusy} sx={{ marginTop: 2 }}>
        Sign in
      </Button>
    </Form>
  );
}
