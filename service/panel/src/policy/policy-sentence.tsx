import { Alert } from '@mui/material';
import type { Policy } from '@trueward/protocol/wire';
import { useRecordContext } from 'react-admin';
import { useWatch } from 'react-hook-form';
import { describePolicy } from './describe-policy.ts';
import { policyOf } from './policy-form.ts';
import { useNames } from './use-names.ts';

/** The rule as it stands in the form, in words. */
export function PolicySentence() {
  const policy = policyOf(useWatch() as Partial<Policy>);
  return (
    <Alert severity="info" icon={false} sx={{ width: '100%', marginBottom: 2 }} aria-live="polite">
      {describePolicy(policy, useNames(policy))}
    </Alert>
  );
}

/** The rule of a row, in words. */
export function PolicyInWords() {
  const policy = useRecordContext<Policy>() ?? ({} as Partial<Policy>);
  return <>{describePolicy(policy, useNames(policy))}</>;
}
