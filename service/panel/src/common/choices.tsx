import { MenuItem, TextField } from '@mui/material';
import { humanize } from './status-chip.tsx';

/** Creates choices from a fixed list of values. */
export const makeChoices = (...names: string[]): { id: string; name: string }[] =>
  names.map((name) => ({ id: name, name: humanize(name) }));

export const statusChoices = makeChoices('active', 'paused');
export const deviceChoices = makeChoices('desktop', 'mobile', 'tablet');
export const mediaFormatChoices = makeChoices('video', 'image', 'html');

/** Events that a webhook can subscribe to. */
export const eventChoices = [
  { id: 'decision.served', name: 'Impression verified' },
  { id: 'decision.rewarded', name: 'Reward earned' },
  { id: 'policy.blocked', name: 'Request blocked by a policy' },
  { id: 'creative.review_updated', name: 'Creative reviewed' },
  { id: 'kill_switch.changed', name: 'Kill switch changed' },
  { id: 'wallet.credited', name: 'Wallet credited' },
  { id: 'wallet.spent', name: 'Wallet spent' },
];

/** Returns an event type's display name. */
export const getEventName = (type: string): string =>
  eventChoices.find(({ id }) => id === type)?.name ?? humanize(type);

interface Props {
  label: string;
  choices: readonly { id: string; name: string }[];
  value: string;
  onChange(value: string): void;
}

/** A select input for use outside a form. */
export function ChoiceField({ label, choices, value, onChange }: Props) {
  return (
    <TextField
      select
      size="small"
      fullWidth={false}
      label={label}
      value={value}
      onChange={({ target }) => onChange(target.value)}
      slotProps={{ select: { displayEmpty: true }, inputLabel: { shrink: true } }}
      sx={{ minWidth: 160 }}
    >
      {choices.map(({ id, name }) => (
        <MenuItem key={id} value={id}>
          {name}
        </MenuItem>
      ))}
    </TextField>
  );
}
