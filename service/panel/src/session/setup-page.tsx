import { useQuery } from '@tanstack/react-query';
import { Alert, Button, Typography } from '@mui/material';
import { useState } from 'react';
import { email, Form, minLength, PasswordInput, required, TextInput } from 'react-admin';
import { useSearchParams } from 'react-router';
import { readFieldErrors, readMessage } from '../api/problem.ts';
import { SignedOutPage } from './sign-in.tsx';
import type { Session, SetupDetails } from './session.ts';

/** The page that a single-use link opens. The first owner or an invited user sets a password there. */
export function SetupPage({ session }: { session: Session }) {
  const [parameters] = useSearchParams();
  const token = parameters.get('token') ?? '';
  const { data: user, error } = useQuery({
    queryKey: ['setup', token],
    queryFn: () => session.readLink(token),
    retry: false,
  });
  return (
    <SignedOutPage title="Set up your account">
      {error && <Alert severity="error">Link invalid or expired. Ask for a new one.</Alert>}
      {user && <SetupForm session={session} token={token} user={user} />}
    </SignedOutPage>
  );
}

interface FormProps {
  session: Session;
  token: string;
  user: { email?: string; name?: string };
}

function SetupForm({ session, token, user }: FormProps) {
  const [errorMessage, setErrorMessage] = useState<string>();

  async function setUp(values: object): Promise<object | undefined> {
    setErrorMessage(undefined);
    try {
      await session.setUp({ ...(values as Omit<SetupDetails, 'token'>), token });
      // The link has been used, and the loaded page has no session. Reload without the link.
      history.replaceState(null, '', '#/');
      location.reload();
      return undefined;
    } catch (error) {
      const errors = readFieldErrors(error);
      if (!errors) setErrorMessage(readMessage(error));
      // The form shows each error next to its field.
      return errors;
    }
  }

  return (
    <Form onSubmit={setUp} defaultValues={user} noValidate>
      <Typography color="textSecondary" sx={{ marginBottom: 2 }}>
        This link is single-use.
      </Typography>
      <TextInput
        source="email"
        type="email"
        label="E-mail"
        autoComplete="username"
        validate={[required(), email()]}
        readOnly={user.email !== undefined}
      />
      <TextInput source="name" label="Your name" autoComplete="name" validate={required()} />
      <PasswordInput
        source="password"
        label="New password"
        autoComplete="new-password"
        helperText="At least 12 characters."
        validate={[required(), minLength(12)]}
      />
      {errorMessage !== undefined && <Alert severity="error">{errorMessage}</Alert>}
      <Button type="submit" variant="contained" fullWidth sx={{ marginTop: 2 }}>
        Set up and sign in
      </Button>
    </Form>
  );
}
