import { Dialog, DialogContent, DialogContentText, DialogTitle } from '@mui/material';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import type { Credentials, Session, SessionInfo } from './session.ts';
import { SignInForm } from './sign-in.tsx';

/** Asks to sign in again on top of the current page, so that no input is lost. */
export function SessionEndedDialog({ session }: { session: Session }) {
  const hasEnded = useSyncExternalStore(session.subscribe, session.hasEnded);
  return hasEnded ? <SignInAgain session={session} /> : null;
}

function SignInAgain({ session }: { session: Session }) {
  const client = useQueryClient();
  const [before, setBefore] = useState<SessionInfo>();
  useEffect(() => {
    void session.read().then(setBefore);
  }, [session]);

  async function signIn(credentials: Credentials): Promise<void> {
    await session.signIn(credentials);
    const { user } = await session.read();
    // Another user has different data and permissions: reload the whole page.
    if (user.id !== before?.user.id) location.reload();
    else await client.invalidateQueries();
  }
  return (
    <Dialog open maxWidth="xs" fullWidth aria-labelledby="session-ended-title">
      <DialogTitle id="session-ended-title">Your session has ended</DialogTitle>
      <DialogContent>
        <DialogContentText sx={{ marginBottom: 1 }}>
          Sign in to continue where you left off. Your input is still here; if you were saving, save
          again.
        </DialogContentText>
        {before && <SignInForm email={before.user.email} onSignIn={signIn} />}
      </DialogContent>
    </Dialog>
  );
}
