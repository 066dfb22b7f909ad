import CheckCircleIcon from '@mui/icons-material/CheckCircle';
import RadioButtonUncheckedIcon from '@mui/icons-material/RadioButtonUnchecked';
import { Box, Link } from '@mui/material';
import { useGetList } from 'react-admin';
import { Link as RouterLink } from 'react-router';
import { PanelCard } from '../common/page.tsx';

/** Returns whether a resource has an object that matches the filter; undefined until that is known. */
function useHasAny(resource: string, filter: Record<string, string> = {}): boolean | undefined {
  const { total, data } = useGetList(resource, {
    filter,
    pagination: { page: 1, perPage: 1 },
    sort: { field: 'created_at', order: 'DESC' },
  });
  return data === undefined ? undefined : (total ?? data.length) > 0;
}

/** The way from an empty environment to the first ad. Shown until an ad has been requested. */
export function FirstSteps() {
  const hasPlacement = useHasAny('placements');
  const hasCreative = useHasAny('creatives');
  const hasApprovedCreative = useHasAny('creatives', { 'review.status': 'approved' });
  const hasHouseAd = useHasAny('house-ads', { status: 'active' });
  const hasKey = useHasAny('keys', { kind: 'publishable' });
  const hasDecision = useHasAny('decisions');
  const steps = [
    {
      text: 'Create a placement: a moment in your game at which an ad can be shown.',
      to: '/placements/create',
      isDone: hasPlacement,
    },
    {
      text: 'Upload a creative: the video, picture or page that is shown, and whose it is.',
      to: '/creatives/create',
      isDone: hasCreative,
    },
    { text: 'Approve it in the review queue.', to: '/review', isDone: hasApprovedCreative },
    {
      text: 'Create a house ad, which shows the creative on the placement.',
      to: '/house-ads/create',
      isDone: hasHouseAd,
    },
    { text: 'Create a publishable key for the game.', to: '/keys/create', isDone: hasKey },
    {
      text: 'Start your game with the key and show an ad.',
      to: '/decisions',
      isDone: hasDecision,
    },
  ];
  if (hasDecision !== false || steps.some(({ isDone }) => isDone === undefined)) return null;
  return (
    <PanelCard title="First steps">
      <Box
        component="ol"
        sx={{ listStyle: 'none', margin: 0, padding: 0, display: 'grid', gap: 1 }}
      >
        {steps.map(({ text, to, isDone }) => (
          <Box component="li" key={to} sx={{ display: 'flex', gap: 1, alignItems: 'center' }}>
            {isDone ? (
              <CheckCircleIcon color="success" titleAccess="Done" />
            ) : (
              <RadioButtonUncheckedIcon color="disabled" titleAccess="To do" />
            )}
            <Link component={RouterLink} to={to}>
              {text}
            </Link>
          </Box>
        ))}
      </Box>
      {hasKey === true && (
        <Box component="pre" sx={codeStyle}>
          {code}
        </Box>
      )}
    </PanelCard>
  );
}

const codeStyle = {
  padding: 1,
  marginBottom: 0,
  overflow: 'auto',
  backgroundColor: 'action.hover',
};

/** The code to paste. The key is on the page of keys. */
const code = `import { createAds } from 'trueward';

const ads = createAds({
  publishableKey: 'pk_…', // from Keys
  serviceUrl: '${location.origin}',
});
ads.on('reward', ({ type, amount }) => give(type, amount));
button.onclick = () => ads.showRewarded('your-placement');`;
