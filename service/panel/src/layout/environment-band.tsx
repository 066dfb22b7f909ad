import { Box } from '@mui/material';
import { useEnvironment } from '../api/environment.ts';
import { environmentColors } from '../theme.ts';

const texts = {
  sandbox: 'Sandbox: test data only, no real player sees it.',
  live: 'Live: real players see what you change, at once.',
};

/** Says on every page which environment this is; it stays while the page is scrolled. */
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
        fontWeight: 600,
        fontSize: { xs: '0.8rem', sm: '0.9rem' },
        backgroundColor: environmentColors[environment],
      }}
    >
      {texts[environment]}
    </Box>
  );
}
