import { Button } from '@mui/material';
import { useEffect, useState } from 'react';
import { Form, minLength, PasswordInput, required, useNotify } from 'react-admin';
import { readFieldErrors, readMessage } from '../api/problem.ts';
import type { Passwords, Session, SessionInfo } from '../session/session.ts';
import { CopyText } from '../common/copy-text.tsx';
import { Facts } from '../common/facts.tsx';
import { Page, PanelCard } from '../common/page.tsx';
import { RetentionCard } from './retention-card.tsx';
import { UsageCard } from './usage-card.tsx';
import { OneTimeCodes } from './one-time-codes.tsx';

/** Settings for the signed-in user's password and one-time codes. */
export function AccountPage({ session }: { session: Session }) {
  const [info, setInfo] = useState<SessionInfo>();
  useEffect(() => {
    let isMounted = true;
    void session.read().then((current) => isMounted && setInfo(current));
    return () => {
      isMounted = false;
    };
  }, [session]);
  return (
    <Page title="Your account">
      {info && (
        <Facts
          facts={{
            Name: info.user.name,
            'E-mail': info.user.email,
            Role: info.user.role,
            Account: info.account.name,
            'Account ID': <CopyText text={info.account.id} label="Account ID" />,
          }}
        />
      )}
      <PanelCard title="Password">
        <ChangePassword session={session} />
      </PanelCard>
      <PanelCard title="One-time codes">
        {info && <OneTimeCodes isInitiallyOn={info.user.code_enabled ?? false} />}
      </PanelCard>
      <UsageCard />
      <RetentionCard />
    </Page>
  );
}

function ChangePassword({ session }: { session: Session }) {
  const notify = useNotify();
  const [count, setCount] = useState(0);
  async function change(passwords: object): Promise<object | undefined> {
    try {
      await session.changePassword(passwords as Passwords);
      notify('Password changed. Your other sessions have been signed out.', { type: 'success' });
      // Remount the form to clear its password inputs.
      setCount(count + 1);
      return undefined;
    } catch (error) {
      const fieldErrors = readFieldErrors(error);
      if (!fieldErrors) notify(readMessage(error), { type: 'error' });
      // The form shows each error next to its field.
      return fieldErrors;
    }
  }
  return (
    <Form key={count} onSubmit={change} noValidate>
      <PasswordInput
        source="current"
        label="Current password"
        autoComplete="current-password"
        validate={required()}
      />
      <PasswordInput
        source="next"
        label="New password"
        autoComplete="new-password"
        helperText="At least 12 characters."
        validate={[required(), minLength(12)]}
      />
      <Button type="submit" variant="contained" sx={{ display: 'block' }}>
        Change password
      </Button>
    </Form>
  );
}
