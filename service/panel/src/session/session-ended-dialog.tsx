import { Dialog, DialogContent, DialogContentText, DialogTitle } from '@mui/material';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import type { Credentials, Session, SessionInfo } from './session.ts';
import { ProviderConfirmation } from './single-sign-on.tsx';
import { SignInForm } from './sign-in.tsx';

/** Prompts the user to sign in again in a dialog over the current page, so that no input is lost. */
export function SessionEndedDialog({ session }: { session: Session }) {
  const hasEnded = useSyncExternalStore(session.subscribe, session.hasEnded);
  return hasEnded ? <SignInAgain session={session} /> : null;
}

function SignInAgain({ session }: { session: Session }) {
  const client = useQueryClient();
  const [endedSession, setEndedSession] = useState<SessionInfo>();
  useEffect(() => {
    void session.read().then(setEndedSession);
  }, [session]);

  async function signIn(credentials: Credentials): Promise<void> {
    await session.signIn(credentials);
    const { user } = await session.read();
    // A different user may have different data and permissions, so reload the page.
    if (user.id !== endedSession?.user.id) location.reload();
    else await client.invalidateQueries();
  }
  return (
    <Dialog open maxWidth="xs" fullWidth aria-labelledby="session-ended-title">
      <DialogTitle id="session-ended-title">Your session has ended</DialogTitle>
      <DialogContent>
        <DialogContentText sx={{ marginBottom: 1 }}>
          Sign in to continue where you left off. Your input is still here. If you were saving, save
          again.
        </DialogContentText>
        <ProviderConfirmation session={session} />
        {endedSession && <SignInForm email={endedSession.user.email} onSignIn={signIn} />}
      </DialogContent>
    </Dialog>
  );
}
