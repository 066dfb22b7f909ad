import { useState } from 'react';
import { query } from '../api/resources.ts';
import { ChoiceField, eventChoices } from '../common/choices.tsx';

const dayMs = 86_400_000;

const periods = [
  { id: '1', name: 'Last 24 hours' },
  { id: '3', name: 'Last 3 days' },
  { id: '7', name: 'Last 7 days' },
  { id: '30', name: 'Last 30 days' },
];
const outcomes = [
  { id: '', name: 'Missed or failed' },
  { id: 'missed', name: 'Missed' },
  { id: 'failed', name: 'Failed' },
  { id: 'delivered', name: 'Delivered' },
];

export interface ResendFilter {
  days: string;
  state: string;
  type: string;
}

export const useResendFilter = () => useState<ResendFilter>({ days: '3', state: '', type: '' });

/** The path that sends a webhook's events again. */
export function recoverPath(webhookId: string, { days, state, type }: ResendFilter): string {
  const since = new Date(Date.now() - Number(days) * dayMs).toISOString();
  const filter = { ...(state === '' ? {} : { state }), ...(type === '' ? {} : { type }) };
  return query(`/v1/webhooks/${webhookId}/recover`, { since, ...filter });
}

interface Props {
  filter: ResendFilter;
  onChange(filter: ResendFilter): void;
  /** The types to choose from. */
  types: readonly string[];
}

/** Which events to send again: of what time, what became of them, and of which type. */
export const ResendFields = ({ filter, onChange, types }: Props) => (
  <>
    <ChoiceField
      label="Resend events of"
      choices={periods}
      value={filter.days}
      onChange={(days) => onChange({ ...filter, days })}
    />
    <ChoiceField
      label="Delivery"
      choices={outcomes}
      value={filter.state}
      onChange={(state) => onChange({ ...filter, state })}
    />
    <ChoiceField
      label="Event"
      choices={[{ id: '', name: 'All' }, ...eventChoices.filter(({ id }) => types.includes(id))]}
      value={filter.type}
      onChange={(type) => onChange({ ...filter, type })}
    />
  </>
);
