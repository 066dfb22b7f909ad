import { Box, Button, TextField, Typography } from '@mui/material';
import type {
  Source,
  SourceCallback,
  SourceCallbackRequest,
  SourceCallbackSecret,
} from '@trueward/protocol/wire';
import { useState } from 'react';
import { useCanAccess } from 'react-admin';
import type { Shown } from '../api/data-provider.ts';
import { useAction } from '../api/use-call.ts';
import { FormDialog, SecretDialog } from '../common/dialogs.tsx';
import { PanelCard } from '../common/page.tsx';

/** How an ad network's server confirms the views of a page source, and the actions that change it. */
export function SourceCallbackCard({ source }: { source: Shown<Source> }) {
  const { callback } = source;
  const { canAccess: mayChange = false } = useCanAccess({
    resource: 'sources',
    action: 'set_callback',
  });
  return (
    <PanelCard title="Confirmation by the network">
      <Typography>{describe(callback)}</Typography>
      {mayChange && (
        <Box sx={{ display: 'flex', flexWrap: 'wrap', gap: 1, marginTop: 2 }}>
          <SetCallback source={source} />
          {callback && <RemoveCallback source={source} />}
        </Box>
      )}
    </PanelCard>
  );
}

const describe = (callback: SourceCallback | undefined): string =>
  callback === undefined
    ? 'None: only the ad SDK in the player’s page says that an ad was watched.'
    : `Rewards wait until the network’s server has called, with the decision’s ID in ${callback.decision_parameter}` +
      (callback.signature_header === undefined
        ? ' and the secret in key.'
        : `, signed in the header ${callback.signature_header}.`);

function SetCallback({ source }: { source: Shown<Source> }) {
  const [isDialogOpen, setDialogOpen] = useState(false);
  const [sent, setSent] = useState<SourceCallbackRequest>();
  const [created, setCreated] = useState<SourceCallbackSecret>();
  const { run } = useAction<SourceCallbackSecret>({ onSuccess: setCreated });
  const isSigned = sent?.signature_header !== undefined;
  return (
    <>
      <Button variant="outlined" onClick={() => setDialogOpen(true)}>
        {source.callback ? 'Change' : 'Set up'}
      </Button>
      {isDialogOpen && (
        <CallbackDialog
          source={source}
          onClose={() => setDialogOpen(false)}
          onConfirm={(body, ifMatch) => {
            setDialogOpen(false);
            setSent(body);
            run(`/v1/sources/${source.id}/callback`, { body, ifMatch });
          }}
        />
      )}
      <SecretDialog
        text={created && sent && formatResult(created, sent)}
        title={isSigned ? 'Secret of the callback' : 'URL of the callback'}
        instructions={
          isSigned
            ? `The network signs with this secret. Its callback URL is ${created?.url ?? ''}.`
            : 'Enter it as the callback URL at the network, with its own macro in place of DECISION_ID.'
        }
        onClose={() => setCreated(undefined)}
      />
    </>
  );
}

interface DialogProps {
  source: Shown<Source>;
  onClose(): void;
  onConfirm(body: SourceCallbackRequest, ifMatch: string | undefined): void;
}

function CallbackDialog({ source, onClose, onConfirm }: DialogProps) {
  // What was shown when the dialog was opened: the fields keep showing it.
  const [{ callback, etag }] = useState(source);
  const [parameter, setParameter] = useState(callback?.decision_parameter ?? 'decision_id');
  const [header, setHeader] = useState(callback?.signature_header ?? '');
  const [secret, setSecret] = useState('');
  return (
    <FormDialog
      title="Confirmation by the network"
      text="The network’s server calls this service after each completed view. Look up in its documentation how it does so. A secret that was in use ends at once."
      confirm="Save"
      isReady={parameter.trim() !== ''}
      onClose={onClose}
      onConfirm={() => {
        const body = {
          decision_parameter: parameter.trim(),
          ...(header.trim() !== '' && { signature_header: header.trim() }),
          ...(secret.trim() !== '' && { secret: secret.trim() }),
        };
        onConfirm(body, etag);
      }}
    >
      <TextField
        label="Parameter with the decision’s ID"
        value={parameter}
        onChange={({ target }) => setParameter(target.value)}
        helperText="The network’s custom parameter. Your adapter passes it the decision’s ID."
      />
      <TextField
        label="Header with the signature"
        value={header}
        onChange={({ target }) => setHeader(target.value)}
        helperText="An HMAC-SHA256. If empty, the URL contains the secret instead."
      />
      <TextField
        label="Secret"
        value={secret}
        onChange={({ target }) => setSecret(target.value)}
        autoComplete="off"
        helperText="The network’s, with at least 16 characters. If empty, a new one is made."
      />
    </FormDialog>
  );
}

const formatResult = (
  { url, secret = '' }: SourceCallbackSecret,
  { signature_header: header, decision_parameter: parameter }: SourceCallbackRequest,
): string =>
  header === undefined
    ? `${url}?${parameter}=DECISION_ID&key=${encodeURIComponent(secret)}`
    : secret;

function RemoveCallback({ source: { id } }: { source: Source }) {
  const [isDialogOpen, setDialogOpen] = useState(false);
  const { run } = useAction({ successMessage: 'The network no longer confirms views.' });
  return (
    <>
      <Button variant="outlined" color="error" onClick={() => setDialogOpen(true)}>
        Remove
      </Button>
      {isDialogOpen && (
        <FormDialog
          title="Remove the confirmation?"
          text="Rewards that wait for the network expire. From then on, the ad SDK’s word has to suffice, or the placement shows none of its ads."
          confirm="Remove"
          confirmColor="error"
          onClose={() => setDialogOpen(false)}
          onConfirm={() => {
            setDialogOpen(false);
            run(`/v1/sources/${id}/callback`, { method: 'DELETE', ifMatch: '*' });
          }}
        >
          {null}
        </FormDialog>
      )}
    </>
  );
}
