import { Box, Button } from '@mui/material';
import type { ApiKey } from '@trueward/protocol/wire';
import { useState } from 'react';
import { Confirm, EditButton, useCanAccess, useRecordContext } from 'react-admin';
import { useAction } from '../api/use-call.ts';
import { OverlapDialog, SecretDialog } from '../common/dialogs.tsx';
import { formatTime } from '../common/time.tsx';

/** Buttons to edit, roll or revoke a key. */
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

function RollKey({ apiKey }: { apiKey: ApiKey }) {
  const { id, last_four: lastFour, leaked_at: leakedAt } = apiKey;
  const [isDialogOpen, setDialogOpen] = useState(false);
  const [text, setText] = useState<string>();
  const { run } = useAction<ApiKey>({ onSuccess: (newKey) => setText(newKey.key) });
  return (
    <>
      <Button size="small" onClick={() => setDialogOpen(true)}>
        Roll
      </Button>
      {isDialogOpen && (
        <OverlapDialog
          title={`Roll the key ending in ${lastFour}?`}
          text={
            leakedAt === undefined
              ? 'The old key keeps working for a while, so that you can replace it everywhere.'
              : 'This key has leaked, so it should stop working now. Servers that use it fail until they have the new one.'
          }
          defaultOverlapS={leakedAt === undefined ? 86_400 : 0}
          confirm="Create new key"
          onClose={() => setDialogOpen(false)}
          onConfirm={(overlapS) => {
            setDialogOpen(false);
            run(`/v1/keys/${id}/roll`, { body: { overlap_s: overlapS } });
          }}
        />
      )}
      <SecretDialog
        text={text}
        title="New API key"
        instructions={keyInstructions}
        onClose={() => setText(undefined)}
      />
    </>
  );
}

function RevokeKey({ apiKey: { id, last_four: lastFour } }: { apiKey: ApiKey }) {
  const [isDialogOpen, setDialogOpen] = useState(false);
  const { run } = useAction({ successMessage: 'Key revoked.' });
  return (
    <>
      <Button size="small" color="error" onClick={() => setDialogOpen(true)}>
        Revoke
      </Button>
      <Confirm
        isOpen={isDialogOpen}
        title={`Revoke the key ending in ${lastFour}?`}
        content="It stops working immediately. This cannot be undone."
        confirm="Revoke"
        confirmColor="warning"
        onClose={() => setDialogOpen(false)}
        onConfirm={() => {
          setDialogOpen(false);
          run(`/v1/keys/${id}`, { method: 'DELETE' });
        }}
      />
    </>
  );
}

export const keyInstructions =
  'Use a publishable key in the game. Keep a secret key on your server, never in a web page.';

/** Describes a key's status. */
export function describeKeyState(
  { revoked_at: revokedAt }: ApiKey,
  nowMs: number,
  zone: string,
): string {
  if (revokedAt === undefined) return 'active';
  if (Date.parse(revokedAt) <= nowMs) return 'revoked';
  return `active until ${formatTime(revokedAt, zone)}`;
}

export const isRevoked = ({ revoked_at: revokedAt }: ApiKey, nowMs: number): boolean =>
  revokedAt !== undefined && Date.parse(revokedAt) <= nowMs;
