import { required, TextArrayInput } from 'react-admin';

/** The web pages that may use a publishable key. */
export const OriginsInput = () => (
  <TextArrayInput
    source="allowed_origins"
    label="Allowed origins"
    helperText="For example https://game.example. Press Enter after each one; * allows any origin."
    validate={required()}
  />
);
