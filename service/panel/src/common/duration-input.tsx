import { TextField } from '@mui/material';
import { useState } from 'react';
import { FieldTitle, InputHelperText, useInput, type Validator } from 'react-admin';
import { formatDuration, parseDuration } from './duration.ts';

interface Props {
  source: string;
  label: string;
  /** The unit in which the service stores the duration. */
  unit: 's' | 'ms';
  helperText?: string;
  defaultValue?: number;
  /** The least and the greatest duration that the service accepts, in `unit`. */
  min: number;
  max: number;
  isRequired?: boolean;
}

/** An input for a duration as people write it, such as `30 s`, `10 min` or `24 h`. */
export function DurationInput(props: Props) {
  const { source, label, unit, helperText, defaultValue, min, max, isRequired = false } = props;
  const unitMs = unit === 's' ? 1_000 : 1;
  const { field, fieldState, id } = useInput<unknown>({
    source,
    defaultValue,
    validate: checkDuration({ unitMs, min, max, isRequired }),
  });
  /** The text while it is being edited. Afterward, the field shows the duration in its normal form. */
  const [typed, setTyped] = useState<string>();
  const text = typed ?? formatValue(field.value, unitMs);
  return (
    <TextField
      id={id}
      name={field.name}
      inputRef={field.ref}
      label={<FieldTitle label={label} source={source} isRequired={isRequired} />}
      value={text}
      size="small"
      margin="dense"
      variant="filled"
      fullWidth
      autoComplete="off"
      error={fieldState.invalid}
      helperText={
        fieldState.error?.message === undefined ? (
          helperText
        ) : (
          <InputHelperText error={fieldState.error.message} />
        )
      }
      onChange={({ target }) => {
        setTyped(target.value);
        field.onChange(readValue(target.value, unitMs));
      }}
      onBlur={() => {
        setTyped(undefined);
        field.onBlur();
      }}
    />
  );
}

/** A text that is not a duration stays in the form as it is, so that it can be corrected. */
function readValue(text: string, unitMs: number): number | string | null {
  if (text.trim() === '') return null;
  const ms = parseDuration(text);
  return ms === undefined ? text : ms / unitMs;
}

const formatValue = (value: unknown, unitMs: number): string =>
  typeof value === 'number'
    ? formatDuration(value * unitMs)
    : typeof value === 'string'
      ? value
      : '';

interface Limits {
  unitMs: number;
  min: number;
  max: number;
  isRequired: boolean;
}

/** Returns a validator for a duration in the service's unit. */
export const checkDuration =
  ({ unitMs, min, max, isRequired }: Limits): Validator =>
  (value: unknown): string | undefined => {
    const range = `${formatDuration(min * unitMs)} to ${formatDuration(max * unitMs)}`;
    if (value === undefined || value === null || value === '')
      return isRequired ? `Enter a duration, ${range}.` : undefined;
    if (typeof value !== 'number') {
      const count = /^\s*(\d+)\s*$/.exec(typeof value === 'string' ? value : '')?.[1];
      return count === undefined
        ? 'Enter a duration such as 30 s, 10 min or 24 h.'
        : `Add a unit: ${count} s, ${count} min or ${count} h.`;
    }
    if (value < min || value > max) return `Enter a duration, ${range}.`;
    return unitMs === 1_000 && !Number.isInteger(value) ? 'Enter whole seconds.' : undefined;
  };
