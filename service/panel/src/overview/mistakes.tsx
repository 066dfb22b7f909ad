import { Alert, AlertTitle, Box } from '@mui/material';
import type { Mistake } from '@trueward/protocol/wire';
import { useRead } from '../api/use-call.ts';
import { TextWithCode } from '../common/text-with-code.tsx';
import { PanelCard } from '../common/page.tsx';

const refetchInterval = 60_000;

const titles: Record<Mistake['name'], string> = {
  shared_user_ref: 'Players share a reference',
  new_user_ref_each_time: 'Players get new references',
  placement_without_reward: 'A placement pays nothing',
  impossible_timing: 'Ads end too early',
  ads_not_visible: 'Ads are not visible',
  callbacks_missing: 'A network confirms no views',
  rewards_denied: 'Many rewards are denied',
  sandbox_key_on_public_site: 'A sandbox key is on a public site',
  live_key_on_development_server: 'A live key is on a development server',
  rewards_not_taken: 'The game doesn’t take rewards',
  rewards_without_receiver: 'No webhook receives rewards',
  receiver_is_slow: 'A webhook is slow',
};

/** What is probably wrong in the game's integration. Nothing is shown if nothing stands out. */
export function Mistakes() {
  const { data } = useRead<{ data: Mistake[] }>('/v1/mistakes', { refetchInterval });
  if (!data || data.data.length === 0) return null;
  return (
    <PanelCard title="Integration">
      <Box sx={{ display: 'grid', gap: 1 }}>
        {data.data.map(({ name, evidence, remedy, guide }) => (
          <Alert key={name} severity="warning">
            <AlertTitle>{titles[name]}</AlertTitle>
            <TextWithCode text={`${evidence} ${remedy} See \`${guide}\`.`} />
          </Alert>
        ))}
      </Box>
    </PanelCard>
  );
}
