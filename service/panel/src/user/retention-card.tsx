import { TextField, Typography } from '@mui/material';
import type { Retention } from '@trueward/protocol/wire';
import { useState } from 'react';
import { useCanAccess } from 'react-admin';
import type { ApiResponse } from '../api/call.ts';
import { useAction, useShown } from '../api/use-call.ts';
import { DialogButton, FormDialog } from '../common/dialogs.tsx';
import { Facts } from '../common/facts.tsx';
import { PanelCard } from '../common/page.tsx';

const formatDays = (days: number | undefined): string =>
  days === undefined ? 'forever' : `${days.toLocaleString('en')} days`;

/** How long the account's data is kept. Only owners change it. */
export function RetentionCard() {
  const shown = useShown<Retention>('/v1/retention');
  const { canAccess = false } = useCanAccess({ resource: 'retention', action: 'edit' });
  if (!shown) return null;
  const { body: data } = shown;
  return (
    <PanelCard title="Retention">
      <Facts
        facts={{
          'Decisions, events and deliveries': formatDays(data.decision_days),
          'Child-directed data': formatDays(data.child_directed_days),
          'Audit log': formatDays(data.audit_days),
        }}
      />
      <Typography variant="body2" color="textSecondary">
        In both environments. Older data is deleted; reports keep their totals.
      </Typography>
      {canAccess && <ChangeRetention shown={shown} />}
    </PanelCard>
  );
}

const isWhole = (text: string): boolean => /^[1-9]\d{0,4}$/.test(text);

function ChangeRetention({ shown }: { shown: ApiResponse<Retention> }) {
  const { run, isRunning } = useAction<Retention>({ successMessage: 'Retention changed.' });
  return (
    <DialogButton
      label="Change retention"
      sx={{ marginTop: 1 }}
      disabled={isRunning}
      dialog={(close) => (
        <RetentionDialog
          shown={shown}
          onClose={close}
          onConfirm={(body, ifMatch) => {
            close();
            run('/v1/retention', { method: 'PUT', body, ifMatch });
          }}
        />
      )}
    />
  );
}

interface DialogProps {
  shown: ApiResponse<Retention>;
  onClose(): void;
  onConfirm(body: object, ifMatch: string | undefined): void;
}

function RetentionDialog({ shown, onClose, onConfirm }: DialogProps) {
  // What was shown when the dialog was opened: the fields keep showing it.
  const [{ body: retention, etag }] = useState(shown);
  const { max_decision_days: maxDecisions, max_audit_days: maxAudit } = retention;
  const [decisions, setDecisions] = useState(String(retention.decision_days ?? ''));
  const [audit, setAudit] = useState(String(retention.audit_days ?? ''));
  // A field that shows the service's own setting is left out, so that it follows that setting.
  const toDays = (text: string, max: number | undefined): number | undefined =>
    text === '' || Number(text) === max ? undefined : Number(text);
  return (
    <FormDialog
      title="Change retention"
      text="What is older is deleted within an hour, and can’t be restored. An empty field follows the service’s setting."
      confirm="Change"
      isReady={[decisions, audit].every((text) => text === '' || isWhole(text))}
      onClose={onClose}
      onConfirm={() =>
        onConfirm(
          {
            decision_days: toDays(decisions, maxDecisions),
            audit_days: toDays(audit, maxAudit),
          },
          etag,
        )
      }
    >
      <TextField
        label="Days for decisions, events and deliveries"
        helperText={`At least 14; at most ${formatDays(maxDecisions)}`}
        value={decisions}
        onChange={({ target }) => setDecisions(target.value)}
      />
      <TextField
        label="Days for the audit log"
        helperText={`At least 30; at most ${formatDays(maxAudit)}`}
        value={audit}
        onChange={({ target }) => setAudit(target.value)}
      />
    </FormDialog>
  );
}
