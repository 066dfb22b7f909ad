import {
  FormDataConsumer,
  minValue,
  NumberInput,
  required,
  SelectInput,
  TextInput,
} from 'react-admin';
import { AdvancedFields } from '../common/advanced-fields.tsx';
import { makeChoices, statusChoices } from '../common/choices.tsx';
import { DurationInput } from '../common/duration-input.tsx';
import { RecommendedRules } from './recommended-rules.tsx';

/** Form fields for a placement. Name and format cannot be changed later, because games depend on them. */
export const PlacementFields = ({ isNew }: { isNew: boolean }) => (
  <>
    <PlacementBasics isNew={isNew} />
    <Limits />
    <SelectInput source="status" label="Status" choices={statusChoices} defaultValue="active" />
  </>
);

/** What every placement needs: its name, its format and its reward. */
export function PlacementBasics({ isNew }: { isNew: boolean }) {
  return (
    <>
      <TextInput
        source="name"
        label="Name"
        helperText="Your game uses it to request ads. Lowercase letters, digits and hyphens."
        validate={required()}
        readOnly={!isNew}
      />
      <SelectInput
        source="format"
        label="Format"
        choices={makeChoices('rewarded', 'interstitial', 'banner')}
        validate={required()}
        readOnly={!isNew}
      />
      <FormDataConsumer>
        {({ formData }) => formData['format'] === 'rewarded' && <RewardFields />}
      </FormDataConsumer>
      {isNew && (
        <FormDataConsumer>
          {({ formData }) => formData['format'] === 'interstitial' && <RecommendedRules />}
        </FormDataConsumer>
      )}
    </>
  );
}

const RewardFields = () => (
  <>
    <NumberInput
      source="reward.amount"
      label="Reward amount"
      validate={[required(), minValue(0)]}
    />
    <TextInput
      source="reward.type"
      label="Reward type"
      helperText="The name in your game, such as coins."
      validate={required()}
    />
    <SelectInput
      source="reward.credit"
      label="Who credits the player"
      choices={[
        { id: 'webhook', name: 'Your game or server' },
        { id: 'wallet', name: 'This service, in the player’s wallet' },
      ]}
      defaultValue="webhook"
      validate={required()}
    />
    <SelectInput
      source="identity"
      label="Player identity"
      choices={[
        { id: 'none', name: 'Set by the game, not verified' },
        { id: 'user_token', name: 'User token signed by your server' },
        { id: 'server', name: 'Set by your server, which requests the ads' },
      ]}
      helperText="How the service knows which player earns the reward. Default: set by the game."
    />
    <SelectInput
      source="page_rewards"
      label="Rewards for ads of page sources"
      choices={[
        { id: 'none', name: 'None: such sources show no ad here' },
        { id: 'source_attested', name: 'Yes, if the network’s server confirms the view' },
        { id: 'client_attested', name: 'Yes: trust the ad SDK in the player’s page' },
      ]}
      helperText="The service can’t verify these ads, and your server must accept them explicitly. Default: none."
    />
    <FormDataConsumer>
      {({ formData }) =>
        ['client_attested', 'source_attested'].includes(String(formData['page_rewards'])) && (
          <PageRewardCap />
        )
      }
    </FormDataConsumer>
  </>
);

const PageRewardCap = () => (
  <>
    <NumberInput
      source="page_reward_cap.max"
      label="Cap of these rewards: number per player"
      helperText="In addition to the other limits. Default: 5 per day."
      min={1}
      max={1_000}
    />
    <DurationInput
      source="page_reward_cap.per_s"
      label="Cap of these rewards: period"
      helperText="For example 24 h."
      unit="s"
      min={1}
      max={2_592_000}
    />
  </>
);

const Limits = () => (
  <>
    <NumberInput
      source="frequency_cap.max"
      label="Frequency cap: impressions per player"
      helperText="Counts players whom the game names. For others, use ad rules."
      min={1}
      max={1_000}
    />
    <DurationInput
      source="frequency_cap.per_s"
      label="Frequency cap: period"
      helperText="For example 10 min or 24 h."
      unit="s"
      min={1}
      max={2_592_000}
    />
    <DurationInput
      source="cooldown_s"
      label="Cooldown"
      helperText="Minimum time between a player’s ads, for example 30 s."
      unit="s"
      min={0}
      max={604_800}
      defaultValue={0}
      isRequired
    />
    <AdvancedFields title="Watch time and late completions">
      <DurationInput
        source="min_view_ms"
        label="Minimum watch time"
        helperText="For image and HTML ads. Videos must play to the end."
        unit="ms"
        min={1_000}
        max={120_000}
        defaultValue={5_000}
        isRequired
      />
      <DurationInput
        source="close_after_ms"
        label="Close button delay"
        helperText="When the close button appears at the latest."
        unit="ms"
        min={0}
        max={120_000}
        defaultValue={5_000}
        isRequired
      />
      <DurationInput
        source="late_window_s"
        label="Late window"
        helperText="How long after the decision a completion can still arrive, for example from an offline device."
        unit="s"
        min={0}
        max={604_800}
        defaultValue={86_400}
        isRequired
      />
    </AdvancedFields>
  </>
);
