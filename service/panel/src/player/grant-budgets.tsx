import { TextField, Typography } from '@mui/material';
import type { GrantBudget, GrantBudgetList } from '@trueward/protocol/wire';
import { useState } from 'react';
import { useCanAccess } from 'react-admin';
import type { ApiResponse } from '../api/call.ts';
import { useAction, useShown } from '../api/use-call.ts';
import { DialogButton, FormDialog } from '../common/dialogs.tsx';
import { Facts } from '../common/facts.tsx';
import { PanelCard } from '../common/page.tsx';

const useBudgets = () => useShown<GrantBudgetList>('/v1/grant-budgets');

/** Returns how much of a type can still be given today, or undefined while it is not known. */
export function useLeftToday(type: string): number | undefined {
  const shown = useBudgets();
  if (!shown) return undefined;
  const budget = shown.body.data.find((other) => other.type === type);
  return budget ? Math.max(0, budget.amount - budget.used_amount) : 0;
}

/** What users may give to players per day. Only owners set it. */
export function GrantBudgets() {
  const shown = useBudgets();
  const { canAccess = false } = useCanAccess({ resource: 'grant-budgets', action: 'edit' });
  if (!shown) return null;
  const budgets = shown.body.data;
  return (
    <PanelCard title="Budget for making good, per day (UTC)">
      {budgets.length === 0 && (
        <Typography>
          Nothing can be given in the panel until an owner sets a budget for its type.
        </Typography>
      )}
      <Facts facts={Object.fromEntries(budgets.map((budget) => [budget.type, describe(budget)]))} />
      {canAccess && <SetBudget shown={shown} />}
    </PanelCard>
  );
}

function describe(budget: GrantBudget): string {
  const { amount, used_amount: used, duration_s: durationS, used_duration_s: usedS } = budget;
  const parts = [
    ...(amount > 0 || used > 0
      ? [`${used.toLocaleString('en')} of ${amount.toLocaleString('en')} given today`]
      : []),
    ...(durationS > 0 || usedS > 0
      ? [`${usedS.toLocaleString('en')} of ${durationS.toLocaleString('en')} s given today`]
      : []),
  ];
  return parts.join(', ') || 'nothing';
}

function SetBudget({ shown }: { shown: ApiResponse<GrantBudgetList> }) {
  const { run, isRunning } = useAction<GrantBudget>({ successMessage: 'Budget set.' });
  return (
    <DialogButton
      label="Set a budget"
      sx={{ marginTop: 1 }}
      disabled={isRunning}
      dialog={(close) => (
        <BudgetDialog
          shown={shown}
          onClose={close}
          onConfirm={(type, body, ifMatch) => {
            close();
            const path = `/v1/grant-budgets/${encodeURIComponent(type)}`;
            run(path, { method: 'PUT', body, ifMatch });
          }}
        />
      )}
    />
  );
}

interface DialogProps {
  shown: ApiResponse<GrantBudgetList>;
  onClose(): void;
  onConfirm(type: string, body: object, ifMatch: string | undefined): void;
}

function BudgetDialog({ shown, onClose, onConfirm }: DialogProps) {
  // What was shown when the dialog was opened.
  const [{ body, etag }] = useState(shown);
  const [type, setType] = useState('');
  const [amount, setAmount] = useState('');
  const budget = body.data.find((other) => other.type === type.trim());
  const whole = /^\d{1,15}$/.test(amount) ? Number(amount) : undefined;
  return (
    <FormDialog
      title="Set a budget"
      text="How much of this type all users together may give to all players per day (UTC). 0 stops it."
      confirm="Set"
      isReady={type.trim() !== '' && whole !== undefined}
      onClose={onClose}
      onConfirm={() =>
        onConfirm(type.trim(), { amount: whole, duration_s: budget?.duration_s ?? 0 }, etag)
      }
    >
      <TextField
        label="Type"
        helperText="such as coins"
        value={type}
        onChange={({ target }) => setType(target.value)}
      />
      <TextField
        label="Amount per day"
        value={amount}
        onChange={({ target }) => setAmount(target.value)}
      />
    </FormDialog>
  );
}
