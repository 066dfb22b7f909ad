import { Alert } from '@mui/material';
import type { Policy } from '@trueward/protocol/wire';
import { useGetManyAggregate, useRecordContext } from 'react-admin';
import { useWatch } from 'react-hook-form';
import { describePolicy, toPolicy } from './describe-policy.ts';

/** Describes the policy as edited in the form. */
export function PolicySentence() {
  const policy = toPolicy(useWatch() as Partial<Policy>);
  return (
    <Alert severity="info" icon={false} sx={{ width: '100%', marginBottom: 2 }} aria-live="polite">
      {describePolicy(policy, useNames(policy))}
    </Alert>
  );
}

/** Describes the policy in the current row. */
export function PolicyText() {
  const policy = useRecordContext<Policy>() ?? ({} as Partial<Policy>);
  return <>{describePolicy(policy, useNames(policy))}</>;
}

interface NamedRecord {
  id: string;
  name: string;
}

/**
 * Returns a function that looks up the name of an advertiser or source that a policy blocks. It falls back to the id if
 * the name is unknown.
 */
function useNames({ block }: Pick<Partial<Policy>, 'block'>): (id: string) => string {
  // react-admin batches the requests for all policies on the page.
  const advertisers = useGetManyAggregate<NamedRecord>('advertisers', {
    ids: block?.advertisers ?? [],
  });
  const sources = useGetManyAggregate<NamedRecord>('sources', { ids: block?.sources ?? [] });
  const records = [...(advertisers.data ?? []), ...(sources.data ?? [])];
  const names = new Map(records.map(({ id, name }) => [id, name]));
  return (id) => names.get(id) ?? id;
}
