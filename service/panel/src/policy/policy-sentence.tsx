import { Alert } from '@mui/material';
import type { Policy } from '@trueward/protocol/wire';
import { useGetManyAggregate, useRecordContext } from 'react-admin';
import { useWatch } from 'react-hook-form';
import { describePolicy, policyOf } from './describe-policy.ts';

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

interface Named {
  id: string;
  name: string;
}

/** The names of the advertisers and sources that a policy blocks, by their ids; the id where there is none. */
function useNames({ block }: Pick<Partial<Policy>, 'block'>): (id: string) => string {
  // Asked together with those of the other policies on the page.
  const advertisers = useGetManyAggregate<Named>('advertisers', { ids: block?.advertisers ?? [] });
  const sources = useGetManyAggregate<Named>('sources', { ids: block?.sources ?? [] });
  const named = [...(advertisers.data ?? []), ...(sources.data ?? [])];
  const names = new Map(named.map(({ id, name }) => [id, name]));
  return (id) => names.get(id) ?? id;
}
