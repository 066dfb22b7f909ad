import { Button } from '@mui/material';
import { useState } from 'react';
import { useRecordContext } from 'react-admin';
import { useAction } from '../api/use-call.ts';
import { ShownOnce } from '../common/shown-once.tsx';
import { linkAdvice } from './link-advice.ts';

/** Creates a one-time link for a user who has lost the password, the authenticator or the first link. */
export function NewLink() {
  const user = useRecordContext();
  const [link, setLink] = useState<string>();
  const { run, isRunning } = useAction<{ invite_url: string }>({
    onDone: (made) => setLink(made.invite_url),
  });
  if (!user) return null;
  return (
    <>
      <Button
        variant="outlined"
        disabled={isRunning}
        onClick={() => run(`/panel/api/users/${user.id}/link`)}
      >
        Create password link
      </Button>
      <ShownOnce
        text={link}
        title="The new link"
        advice={linkAdvice}
        onClose={() => setLink(undefined)}
      />
    </>
  );
}
