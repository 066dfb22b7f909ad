import { Box } from '@mui/material';
import { useEnvironment } from '../api/environment.ts';
import { timeZones, useTimeZone } from '../common/time.tsx';
import { environmentColors } from '../theme.ts';

const texts = {
  sandbox: 'Sandbox: test data only, not visible to players.',
  live: 'Live: your changes reach real players immediately.',
};

/** A sticky band that shows the environment and the time zone on every page. */
export function EnvironmentBand() {
  const { environment } = useEnvironment();
  return (
    <Box
      role="note"
      aria-label="Environment"
      sx={{
        position: 'sticky',
        top: 48,
        zIndex: 2,
        marginTop: 1,
        paddingInline: 1.5,
        paddingBlock: 0.5,
        borderRadius: 1,
        color: '#fff',
        fontSize: { xs: '0.8rem', sm: '0.9rem' },
        backgroundColor: environmentColors[environment],
        display: 'flex',
        flexWrap: 'wrap',
        justifyContent: 'space-between',
        columnGap: 2,
      }}
    >
      <strong>{texts[environment]}</strong>
      <ZoneChoice />
    </Box>
  );
}

function ZoneChoice() {
  const [zone, choose] = useTimeZone();
  return (
    <label>
      Times in{' '}
      <Box
        component="select"
        value={zone}
        onChange={({ target }: { target: { value: string } }) => choose(target.value)}
        sx={{
          font: 'inherit',
          color: 'inherit',
          backgroundColor: 'transparent',
          border: 0,
          textDecoration: 'underline',
          '& option': { color: '#1b2330', backgroundColor: '#fff' },
          '&:focus-visible': { outline: '2px solid #fff' },
        }}
      >
        {timeZones.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </Box>
    </label>
  );
}
