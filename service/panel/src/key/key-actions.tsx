import { Box, Button } from '@mui/material';
import type { ApiKey } from '@trueward/protocol/wire';
import { useState } from 'react';
import { Confirm, EditButton, useCanAccess, useRecordContext } from 'react-admin';
import { useAction } from '../api/use-call.ts';
import { OverlapDialog, SecretDialog } from '../common/dialogs.tsx';
import { formatTime } from '../common/time.tsx';

/** Edits, rolls or revokes a key. */
export function KeyActions() {
  const key = useRecordContext<ApiKey>();
  const { canAccess = false } = useCanAccess({ resource: 'keys', action: 'edit' });
  if (!key || !canAccess || isRevoked(key, Date.now())) return null;
  return (
    <Box sx={{ display: 'flex', gap: 1 }}>
      <EditButton />
      <RollKey apiKey={key} />
      <RevokeKey apiKey={key} />
    </Box>
  );
}

function RollKey({ apiKey: { id, last_four: lastFour } }: { apiKey: ApiKey }) {
  const [isAsking, setAsking] = useState(false);
  const [text, setText] = useState<string>();
  const { run } = useAction<ApiKey>({ onDone: (made) => setText(made.key) });
  return (
    <>
      <Button size="small" onClick={() => setAsking(true)}>
        Roll
      </Button>
      {isAsking && (
        <OverlapDialog
          title={`Roll the key ending in ${lastFour}?`}
          text="You get a new key now. The old one keeps working for a while, so that you can replace it everywhere."
          confirm="Create new key"
          onClose={() => setAsking(false)}
          onConfirm={(overlapS) => {
            setAsking(false);
            run(`/v1/keys/${id}/roll`, { body: { overlap_s: overlapS } });
          }}
        />
      )}
      <SecretDialog
        text={text}
        title="New API key"
        advice={keyAdvice}
        onClose={() => setText(undefined)}
      />
    </>
  );
}

function RevokeKey({ apiKey: { id, last_four: lastFour } }: { apiKey: ApiKey }) {
  const [isAsking, setAsking] = useState(false);
  const { run } = useAction({ done: 'Key revoked.' });
  return (
    <>
      <Button size="small" color="error" onClick={() => setAsking(true)}>
        Revoke
      </Button>
      <Confirm
        isOpen={isAsking}
        title={`Revoke the key ending in ${lastFour}?`}
        content="It stops working immediately. You cannot undo this."
        confirm="Revoke"
        confirmColor="warning"
        onClose={() => setAsking(false)}
        onConfirm={() => {
          setAsking(false);
          run(`/v1/keys/${id}`, { method: 'DELETE' });
        }}
      />
    </>
  );
}

export const keyAdvice =
  'Use a publishable key in the game. Keep a secret key on your server, never in a web page.';

/** The status of a key as text. */
export function keyState({ revoked_at: revokedAt }: ApiKey, nowMs: number, zone: string): string {
  if (revokedAt === undefined) return 'active';
  if (Date.parse(revokedAt) <= nowMs) return 'revoked';
  return `active until ${formatTime(revokedAt, zone)}`;
}

export const isRevoked = ({ revoked_at: revokedAt }: ApiKey, nowMs: number): boolean =>
  revokedAt !== undefined && Date.parse(revokedAt) <= nowMs;
