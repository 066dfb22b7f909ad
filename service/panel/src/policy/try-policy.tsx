import type { Policy } from '@trueward/protocol/wire';
import { useWatch } from 'react-hook-form';
import { PanelCard } from '../common/panel-card.tsx';
import { policyOf } from './policy-form.ts';
import { TryRequest } from './try-request.tsx';

/** Tries a request with the policy in the form, before it is saved. */
export function TryPolicy() {
  const { id, name, kind, placements, when, block, status } = policyOf(
    useWatch() as Partial<Policy>,
  ) as Partial<Policy>;
  const policy = { name: name || 'This policy', kind, placements, when, block, status };
  return (
    <PanelCard title="What would happen to this request?">
      <TryRequest policy={policy} policyId={id} />
    </PanelCard>
  );
}
