import { Alert, Button, Typography } from '@mui/material';
import { useState } from 'react';
import { email, Form, minLength, PasswordInput, required, TextInput } from 'react-admin';
import { useSearchParams } from 'react-router';
import { messageOf } from '../api/problem.ts';
import { Gate } from './gate.tsx';
import type { Session, SetUp } from './session.ts';

/** Where the one-time link leads: the first owner, or somebody who was invited, chooses a password. */
export function SetUpPage({ session }: { session: Session }) {
  const [parameters] = useSearchParams();
  const token = parameters.get('token') ?? '';
  const [refusal, setRefusal] = useState<string>();

  async function setUp(values: object): Promise<void> {
    setRefusal(undefined);
    try {
      await session.setUp({ ...(values as Omit<SetUp, 'token'>), token });
      // Begins anew: what is loaded has seen nobody signed in, and the link is of no more use.
      history.replaceState(null, '', '#/');
      location.reload();
    } catch (error) {
      setRefusal(messageOf(error));
    }
  }

  return (
    <Gate title="Set up your account">
      <Typography color="textSecondary" sx={{ marginBottom: 2 }}>
        This link works once, for 24 hours.
      </Typography>
      {token === '' && <Alert severity="error">The link is cut: open it as a whole.</Alert>}
      <Form onSubmit={setUp} noValidate>
        <TextInput
          source="email"
          type="email"
          label="E-mail"
          autoComplete="username"
          validate={[required(), email()]}
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
    </Gate>
  );
}
