import { Alert, LinearProgress, Typography } from '@mui/material';
import type { Placement } from '@trueward/protocol/wire';
import { CopyText } from '../common/copy-text.tsx';

interface Props {
  placement: Placement;
  publishableKey: string;
}

/** The code with which a game shows its first ad, and the wait for that ad. */
export const CodeToPaste = ({ placement, publishableKey }: Props) => (
  <>
    <Typography color="textSecondary">
      Install trueward in your game, paste this code, and start the game.
    </Typography>
    <CopyText
      text={makeCode(placement, publishableKey, location.origin)}
      label="Code to paste"
      isBlock
    />
    <Alert severity="info" icon={false} role="status">
      Waiting for the first ad request…
      <LinearProgress aria-label="Waiting" sx={{ marginTop: 1 }} />
    </Alert>
  </>
);

/** Writes the code for a placement. */
export function makeCode(
  { format, name }: Pick<Placement, 'format' | 'name'>,
  publishableKey: string,
  serviceUrl: string,
): string {
  const start = `import { createAds } from 'trueward';

const ads = createAds({
  publishableKey: '${publishableKey}',
  serviceUrl: '${serviceUrl}',
  // userRef: your own id for the player. Without it, each browser is a guest.
});`;
  const calls = {
    rewarded: `ads.on('reward', ({ decisionId, reward }) => {
  // Pay for each decision once.
  give(decisionId, reward.amount, reward.type);
});
button.onclick = () => ads.showRewarded('${name}');`,
    interstitial: `await ads.showInterstitial('${name}');`,
    banner: `ads.mountBanner('${name}', document.querySelector('#banner'));`,
  };
  return `${start}\n${calls[format]}`;
}
