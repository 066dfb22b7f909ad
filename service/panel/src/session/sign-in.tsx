import { Alert, Box, Button, Card, CardContent, Typography } from '@mui/material';
import { type ReactNode, useEffect, useState } from 'react';
import { Form, Notification, PasswordInput, required, TextInput, useLogin } from 'react-admin';
import { readCode, readMessage, readRetryAfter } from '../api/problem.ts';
import type { Credentials } from './session.ts';
import { ProviderSignIn } from './single-sign-on.tsx';

interface FormProps {
  /** The e-mail address of the user whose session has ended. If undefined, any user can sign in. */
  email?: string | undefined;
  onSignIn(credentials: Credentials): Promise<unknown>;
}

interface Rejection {
  text: string;
  waitS: number | undefined;
}

/** Prompts for e-mail and password and, if the user has enabled one-time codes, a code. */
export function SignInForm({ email, onSignIn }: FormProps) {
  const [needsCode, setNeedsCode] = useState(false);
  const [needsAccount, setNeedsAccount] = useState(false);
  const [rejection, setRejection] = useState<Rejection>();
  const [isBusy, setBusy] = useState(false);

  async function signIn(values: object): Promise<void> {
    setBusy(true);
    setRejection(undefined);
    try {
      await onSignIn(values as Credentials);
    } catch (error) {
      if (readCode(error) === 'code_required') setNeedsCode(true);
      else if (readCode(error) === 'account_required') {
        setNeedsAccount(true);
        setRejection({ text: readMessage(error), waitS: undefined });
      } else setRejection({ text: readMessage(error), waitS: readRetryAfter(error) });
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
      {needsAccount && (
        <TextInput source="account" label="Account id" validate={required()} autoFocus />
      )}
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
      {rejection && (
        <Alert severity="error">
          {rejection.waitS === undefined ? (
            rejection.text
          ) : (
            <Countdown
              seconds={rejection.waitS}
              text={(remainingS) => `Too many failed attempts. Try again in ${remainingS} s.`}
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

interface CountdownProps {
  seconds: number;
  text(remainingS: number): string;
  /** The text to show when the countdown reaches zero. */
  done: string;
}

/** Shows a countdown. */
function Countdown({ seconds, text, done }: CountdownProps) {
  const [endsAtMs] = useState(() => performance.now() + seconds * 1_000);
  const [remainingS, setRemainingS] = useState(seconds);
  const isExpired = remainingS === 0;
  useEffect(() => {
    if (isExpired) return undefined;
    const timer = setInterval(
      () => setRemainingS(Math.max(0, Math.ceil((endsAtMs - performance.now()) / 1_000))),
      250,
    );
    return () => clearInterval(timer);
  }, [endsAtMs, isExpired]);
  return <>{isExpired ? done : text(remainingS)}</>;
}

export function SignInPage() {
  const login = useLogin();
  return (
    <SignedOutPage title="Sign in">
      <ProviderSignIn />
      <SignInForm onSignIn={login} />
      <Notification />
    </SignedOutPage>
  );
}

/** The layout of pages for signed-out users. */
export function SignedOutPage({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Box
      component="main"
      sx={{ minHeight: '100dvh', display: 'grid', placeItems: 'center', padding: 2 }}
    >
      <Card sx={{ width: '100%', maxWidth: 400 }}>
        <CardContent>
          <Typography component="p" variant="h2" color="primary">
            Trueward
          </Typography>
          <Typography variant="h1" sx={{ marginBlock: 1 }}>
            {title}
          </Typography>
          {children}
        </CardContent>
      </Card>
    </Box>
  );
}
