import { useQuery } from '@tanstack/react-query';
import { Alert, Button, Typography } from '@mui/material';
import { useState } from 'react';
import { email, Form, minLength, PasswordInput, required, TextInput } from 'react-admin';
import { useSearchParams } from 'react-router';
import { fieldErrorsOf, messageOf } from '../api/problem.ts';
import { Gate } from './sign-in.tsx';
import type { Session, SetUp } from './session.ts';

/** The target of a one-time link: the first owner or an invited user sets a password. */
export function SetUpPage({ session }: { session: Session }) {
  const [parameters] = useSearchParams();
  const token = parameters.get('token') ?? '';
  const { data: known, error } = useQuery({
    queryKey: ['setup', token],
    queryFn: () => session.readLink(token),
    retry: false,
  });
  return (
    <Gate title="Set up your account">
      {error && <Alert severity="error">Link invalid or expired. Ask for a new one.</Alert>}
      {known && <SetUpForm session={session} token={token} known={known} />}
    </Gate>
  );
}

interface FormProps {
  session: Session;
  token: string;
  known: { email?: string; name?: string };
}

function SetUpForm({ session, token, known }: FormProps) {
  const [refusal, setRefusal] = useState<string>();

  async function setUp(values: object): Promise<object | undefined> {
    setRefusal(undefined);
    try {
      await session.setUp({ ...(values as Omit<SetUp, 'token'>), token });
      // Reload, because the loaded page has no session. The link is used up.
      history.replaceState(null, '', '#/');
      location.reload();
      return undefined;
    } catch (error) {
      const errors = fieldErrorsOf(error);
      if (!errors) setRefusal(messageOf(error));
      // The form shows each error at its field.
      return errors;
    }
  }

  return (
    <Form onSubmit={setUp} defaultValues={known} noValidate>
      <Typography color="textSecondary" sx={{ marginBottom: 2 }}>
        This link works once.
      </Typography>
      <TextInput
        source="email"
        type="email"
        label="E-mail"
        autoComplete="username"
        validate={[required(), email()]}
        readOnly={known.email !== undefined}
      />
      <TextInput source="name" label="Your name" autoComplete="name" validate={required()} />
      <PasswordInput
        source="password"
        label="New password"
        autoComplete="new-password"
        helperText="At least 12 characters."
        validate={[required(), minLength(12)]}
      />
      {refusal !== undefined && <Alert severity="error">{refusal}</Alert>}
      <Button type="submit" variant="contained" fullWidth sx={{ marginTop: 2 }}>
        Set up and sign in
      </Button>
    </Form>
  );
}
