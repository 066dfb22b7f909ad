import { ToggleButton, ToggleButtonGroup } from '@mui/material';
import { useState } from 'react';
import { Confirm } from 'react-admin';
import { type Environment, useEnvironment } from '../api/environment.ts';

const names: Record<Environment, string> = { sandbox: 'Sandbox', live: 'Live' };
const liveWarning = 'Your changes there reach real players immediately.';
const lossWarning = 'Your unsaved changes will be lost.';

/** Shows and switches the environment. Asks for confirmation before switching to live, and before discarding input. */
export function EnvironmentSwitch() {
  const { environment, switchTo } = useEnvironment();
  const [pendingSwitch, setPendingSwitch] = useState<{ next: Environment; isUnsaved: boolean }>();
  const choose = (next: Environment | null) => {
    if (next === null) return;
    const isUnsaved = hasUnsavedChanges();
    if (next === 'live' || isUnsaved) setPendingSwitch({ next, isUnsaved });
    else switchTo(next);
  };
  return (
    <>
      <ToggleButtonGroup
        exclusive
        size="small"
        aria-label="Environment"
        value={environment}
        onChange={(_event, next: Environment | null) => choose(next)}
        sx={{ flexShrink: 0, marginRight: 1 }}
      >
        {(['sandbox', 'live'] as const).map((name) => (
          <ToggleButton key={name} value={name} sx={buttonStyle}>
            {names[name]}
          </ToggleButton>
        ))}
      </ToggleButtonGroup>
      {pendingSwitch && (
        <Confirm
          isOpen
          title={`Switch to ${pendingSwitch.next}?`}
          content={[
            ...(pendingSwitch.next === 'live' ? [liveWarning] : []),
            ...(pendingSwitch.isUnsaved ? [lossWarning] : []),
          ].join(' ')}
          confirm={`Switch to ${pendingSwitch.next}`}
          confirmColor="warning"
          onConfirm={() => switchTo(pendingSwitch.next)}
          onClose={() => setPendingSwitch(undefined)}
        />
      )}
    </>
  );
}
const buttonStyle = {
  color: '#fff',
  borderColor: 'rgb(255 255 255 / 60%)',
  paddingBlock: 0.25,
  '&.Mui-selected, &.Mui-selected:hover': {
    backgroundColor: '#fff',
    color: '#1b2330',
    fontWeight: 700,
  },
  '&.Mui-focusVisible': { outline: '2px solid #fff', outlineOffset: '2px' },
};

/** Whether a form has unsaved changes. Dispatches `beforeunload`, which a form with unsaved changes cancels. */
function hasUnsavedChanges(): boolean {
  return !dispatchEvent(new Event('beforeunload', { cancelable: true }));
}
