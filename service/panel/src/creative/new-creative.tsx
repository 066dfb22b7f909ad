import { Dialog, DialogContent, DialogTitle } from '@mui/material';
import type { Creative } from '@trueward/protocol/wire';
import { useId } from 'react';
import { CreateBase, useCreateSuggestionContext } from 'react-admin';
import { PanelForm } from '../common/panel-form.tsx';
import { CreativeFields } from './creative-fields.tsx';

/** Creates a creative without leaving the form in which it is chosen. */
export function NewCreative() {
  const { filter, onCreate, onCancel } = useCreateSuggestionContext();
  const titleId = useId();
  return (
    <Dialog open onClose={onCancel} fullWidth maxWidth="md" aria-labelledby={titleId}>
      <DialogTitle id={titleId}>New creative</DialogTitle>
      <DialogContent>
        <CreateBase
          resource="creatives"
          redirect={false}
          record={{ name: filter ?? '' }}
          mutationOptions={{ onSuccess: (creative: Creative) => onCreate(creative) }}
        >
          <PanelForm warnWhenUnsavedChanges={false}>
            <CreativeFields />
          </PanelForm>
        </CreateBase>
      </DialogContent>
    </Dialog>
  );
}
