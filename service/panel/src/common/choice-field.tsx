import { MenuItem, TextField } from '@mui/material';

interface Props {
  label: string;
  choices: readonly { id: string; name: string }[];
  value: string;
  onChange(value: string): void;
}

/** One of a few, outside of a form. */
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
