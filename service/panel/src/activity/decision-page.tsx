import { Alert, Typography } from '@mui/material';
import type { Creative } from '@trueward/protocol/wire';
import { Loading, useGetOne } from 'react-admin';
import { useParams } from 'react-router';
import { useRead } from '../api/use-call.ts';
import { CopyText } from '../common/copy-text.tsx';
import { Facts } from '../common/facts.tsx';
import { Page, PanelCard } from '../common/page.tsx';
import { describeRewardReason } from '../common/reasons.ts';
import { humanize, StatusChip } from '../common/status-chip.tsx';
import { TextWithTimes } from '../common/time.tsx';
import { CreativePreview } from '../preview/creative-preview.tsx';
import { DeliveryDetails } from '../webhook/deliveries.tsx';
import { PlayerLink } from './player-link.tsx';
import { DecisionSummary } from './decision-summary.tsx';
import type { DecisionDetails } from './stored-decision.ts';
import { Timeline } from './timeline.tsx';

/** Shows a decision: its outcome and reasons, its events, its reward, and its webhook deliveries. */
export function DecisionPage() {
  const { id = '' } = useParams();
  const { data, error, isPending } = useRead<DecisionDetails>(
    `/panel/api/decisions/${encodeURIComponent(id)}`,
  );
  return (
    <Page title="Decision">
      <CopyText text={id} label="Decision ID" />
      {isPending && <Loading />}
      {error && <Alert severity="error">{error.message}</Alert>}
      {data && <DecisionCards details={data} />}
    </Page>
  );
}

function DecisionCards({ details }: { details: DecisionDetails }) {
  const { decision, explain = [], cause, events = [], reward = {}, deliveries = [] } = details;
  return (
    <>
      <PanelCard title="Decision">
        <DecisionSummary
          decision={decision}
          explain={explain}
          cause={cause}
          facts={{
            Player: decision.user_ref !== undefined && <PlayerLink player={decision.user_ref} />,
            'Custom data': decision.custom_data,
            'Invalid traffic': decision.invalid_reason && humanize(decision.invalid_reason),
          }}
        />
      </PanelCard>
      {decision.creative_id !== undefined && <ShownCreative id={decision.creative_id} />}
      <PanelCard title="Reward">
        <RewardFacts reward={reward} />
      </PanelCard>
      <PanelCard title="Activity">
        <Timeline issuedAt={decision.issued_at} events={events} />
      </PanelCard>
      <PanelCard title="Webhook deliveries">
        {deliveries.length === 0 && (
          <Typography>No webhook deliveries for this decision.</Typography>
        )}
        {deliveries.map((delivery) => (
          <DeliveryDetails key={delivery.id} delivery={delivery} canRedeliver={false} />
        ))}
      </PanelCard>
    </>
  );
}

/** What the player saw. The creative may have changed since. */
function ShownCreative({ id }: { id: string }) {
  const { data: creative } = useGetOne<Creative>('creatives', { id });
  if (!creative) return null;
  return <CreativePreview title={`Ad: ${creative.name}`} creative={creative} />;
}

function RewardFacts({ reward }: { reward: NonNullable<DecisionDetails['reward']> }) {
  const reasons = reward.reasons ?? (reward.reason ? [humanize(reward.reason)] : []);
  return (
    <Facts
      facts={{
        State: <StatusChip status={reward.state ?? 'none'} />,
        Meaning: reward.reason && describeRewardReason(reward.reason).text,
        Reasons:
          reasons.length > 0 &&
          reasons.map((reason) => (
            <div key={reason}>
              <TextWithTimes text={humanize(reason)} />
            </div>
          )),
        Reward: reward.reward && `${reward.reward.amount} ${reward.reward.type}`,
        Receipt: reward.receipt,
      }}
    />
  );
}
