import { ToggleButton, ToggleButtonGroup } from '@mui/material';
import { useState } from 'react';
import { Confirm } from 'react-admin';
import { type Environment, useEnvironment } from '../api/environment.ts';

const names: Record<Environment, string> = { sandbox: 'Sandbox', live: 'Live' };

/** Says which environment is shown, and switches; to live, only after a question. */
export function EnvironmentSwitch() {
  const { environment, switchTo } = useEnvironment();
  const [isAsking, setAsking] = useState(false);
  const choose = (next: Environment | null) => {
    if (next === 'live') setAsking(true);
    else if (next === 'sandbox') switchTo(next);
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
        {(['sandbox', 'live'] as const).map((each) => (
          <ToggleButton key={each} value={each} sx={buttonStyle}>
            {names[each]}
          </ToggleButton>
        ))}
      </ToggleButtonGroup>
      <Confirm
        isOpen={isAsking}
        title="Switch to live?"
        content="What you change there is seen by real players at once."
        confirm="Switch to live"
        confirmColor="warning"
        onConfirm={() => {
          setAsking(false);
          switchTo('live');
        }}
        onClose={() => setAsking(false)}
      />
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
