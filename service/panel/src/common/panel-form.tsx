import { SimpleForm, type SimpleFormProps } from 'react-admin';
import { FirstError } from './first-error.tsx';

/** A form that warns before unsaved input is lost, and leads to the first field with an error. */
export const PanelForm = ({ children, ...props }: SimpleFormProps) => (
  <SimpleForm warnWhenUnsavedChanges {...props}>
    {children}
    <FirstError />
  </SimpleForm>
);
