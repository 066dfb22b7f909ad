import CheckCircleIcon from '@mui/icons-material/CheckCircle';
import RadioButtonUncheckedIcon from '@mui/icons-material/RadioButtonUnchecked';
import { Box, Button } from '@mui/material';
import { Link as RouterLink } from 'react-router';
import { PanelCard } from '../common/page.tsx';
import { stepNames, useFirstAd } from '../first-ad/use-first-ad.ts';

/** The way from an empty environment to the first ad. Shown until an ad has been requested. */
export function FirstSteps() {
  const { decision, done, isKnown } = useFirstAd(false);
  if (!isKnown || decision !== undefined) return null;
  return (
    <PanelCard title="First steps">
      <Box
        component="ol"
        sx={{ listStyle: 'none', margin: 0, padding: 0, display: 'grid', gap: 1 }}
      >
        {stepNames.map((name, index) => (
          <Box component="li" key={name} sx={{ display: 'flex', gap: 1, alignItems: 'center' }}>
            {index < done ? (
              <CheckCircleIcon color="success" titleAccess="Done" />
            ) : (
              <RadioButtonUncheckedIcon color="disabled" titleAccess="To do" />
            )}
            {name}
          </Box>
        ))}
      </Box>
      <Button component={RouterLink} to="/first-ad" variant="contained" sx={{ marginTop: 2 }}>
        {done === 0 ? 'Set up your first ad' : 'Continue with your first ad'}
      </Button>
    </PanelCard>
  );
}
