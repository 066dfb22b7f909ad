import { Alert } from '@mui/material';
import { describeAdRule } from '@trueward/protocol/describe-ad-rule';
import type { AdRule } from '@trueward/protocol/wire';
import {
  AutocompleteArrayInput,
  BooleanInput,
  DataTable,
  NumberInput,
  required,
  TextArrayInput,
  TextInput,
  useRecordContext,
} from 'react-admin';
import { useWatch } from 'react-hook-form';
import { makeChoices } from '../common/choices.tsx';
import { RecordLink } from '../common/columns.tsx';
import { DurationInput } from '../common/duration-input.tsx';
import { PlacementsInput } from '../common/placements-input.tsx';
import { CreatePage, EditPage, ListPage } from '../resource/resource-pages.tsx';
import { StatusChip } from '../common/status-chip.tsx';
import { TryRequest } from '../policy/try-request.tsx';
import { PanelCard } from '../common/page.tsx';
import { toAdRule } from './to-ad-rule.ts';

export const AdRuleList = () => (
  <ListPage sort={{ field: 'created_at', order: 'ASC' }}>
    <DataTable.Col label="Rule" disableSort>
      <RuleLink />
    </DataTable.Col>
    <DataTable.Col
      source="enabled"
      label="Status"
      render={({ enabled }) => <StatusChip status={enabled ? 'active' : 'paused'} />}
    />
  </ListPage>
);

function RuleLink() {
  const rule = useRecordContext<AdRule>();
  return rule ? <RecordLink>{describeAdRule(rule)}</RecordLink> : null;
}

export const AdRuleCreate = () => (
  <CreatePage noun="ad rule" transform={toAdRule}>
    <AdRuleFields />
  </CreatePage>
);

export const AdRuleEdit = () => (
  <EditPage noun="ad rule" transform={toAdRule}>
    <AdRuleFields />
  </EditPage>
);

const AdRuleFields = () => (
  <>
    <RuleSentence />
    <AutocompleteArrayInput
      source="formats"
      label="Formats"
      choices={makeChoices('interstitial', 'rewarded', 'banner')}
      validate={required()}
    />
    <DurationInput
      source="first_after_s"
      label="Start of a session"
      helperText="No ad before, for example 60 s. Not for rewarded ads."
      unit="s"
      min={1}
      max={3_600}
    />
    <DurationInput
      source="gap_s"
      label="Gap"
      helperText="Minimum time since the last of these ads, for example 2 min."
      unit="s"
      min={1}
      max={86_400}
    />
    <AutocompleteArrayInput
      source="gap_after"
      label="Gap after"
      choices={makeChoices('rewarded', 'interstitial')}
      helperText="The gap counts from ads in these formats instead, in any placement."
    />
    <TextInput
      source="ad_free_with"
      label="Ad-free with"
      helperText="Instead of limits: no such ads for players who have this timed reward, such as no_ads, in their wallet."
    />
    <NumberInput source="max_per_session" label="Maximum per session" />
    <NumberInput source="max_per_hour" label="Maximum per hour" />
    <NumberInput source="max_per_day" label="Maximum per day" />
    <PlacementsInput label="Placements" helperText="Leave empty for all placements." />
    <TextArrayInput
      source="segments"
      label="Player segments"
      helperText="As sent by the game. Leave empty for all players. Not for rewarded ads. Press Enter after each one."
    />
    <BooleanInput source="enabled" label="Enabled" defaultValue />
    <TryAdRule />
  </>
);

/** Describes the rule as edited in the form. */
function RuleSentence() {
  const rule = toAdRule(useWatch());
  return (
    <Alert severity="info" icon={false} sx={{ width: '100%', marginBottom: 2 }} aria-live="polite">
      {describeAdRule(rule)}
    </Alert>
  );
}

/** Tries the rule as edited in the form on a session, before the edits are saved. */
function TryAdRule() {
  const { id, formats, ...limits } = toAdRule(useWatch()) as Partial<AdRule>;
  const { created_at: _at, updated_at: _to, environment: _env, ...rule } = limits;
  return (
    <PanelCard title="Try this rule">
      <TryRequest
        draft={{ ad_rule: { formats, ...rule }, ...(id === undefined ? {} : { ad_rule_id: id }) }}
        format={formats?.[0] ?? 'interstitial'}
        placement={limits.placements?.[0]}
      />
    </PanelCard>
  );
}
