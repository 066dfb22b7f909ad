import { Autocomplete, Box, Button, MenuItem, TextField } from '@mui/material';
import type { Decision, DecisionRequest, Policy } from '@trueward/protocol/wire';
import { type ReactNode, useState } from 'react';
import { useWatch } from 'react-hook-form';
import { DecisionSummary } from '../activity/decision-summary.tsx';
import { useAction } from '../api/use-call.ts';
import { Page, PanelCard } from '../common/page.tsx';
import { usePlacementSearch } from '../common/placements-input.tsx';
import { toPolicy } from './describe-policy.ts';

interface TrialResult {
  decision: Decision;
  explain?: Decision['explain'];
  /** The policy that blocked the request. */
  rule?: Policy;
}

interface Props {
  /** An unsaved policy to apply in addition to the saved policies. */
  policy?: object;
  /** The id of the saved policy that `policy` replaces. Undefined for a new policy. */
  policyId?: string | undefined;
}

/** A trial request and its result. This is not a form element, because it is also used inside a form. */
function TryRequest({ policy, policyId }: Props) {
  const [values, setValues] = useState(defaultRequest);
  const { run, isRunning, result } = useAction<TrialResult>({ refetches: false });
  const [searchText, setSearchText] = useState('');
  const placements = usePlacementSearch(searchText).map(({ name }) => name);
  const request = { ...values, placement: values.placement || (placements[0] ?? '') };
  const runTrial = () =>
    run('/panel/api/policies/try', {
      body: {
        request: toRequest(request),
        device: request.device,
        ...(request.country === '' ? {} : { country: request.country.trim().toUpperCase() }),
        ...(policy ? { policy } : {}),
        ...(policyId === undefined ? {} : { policy_id: policyId }),
      },
    });
  const field = (name: keyof TrialRequest, label: string, options?: ReactNode) => (
    <TextField
      label={label}
      size="small"
      select={options !== undefined}
      value={request[name]}
      onChange={({ target }) => setValues({ ...values, [name]: target.value })}
    >
      {options}
    </TextField>
  );
  return (
    <Box sx={{ display: 'grid', gap: 2, gridTemplateColumns: 'minmax(0, 1fr)' }}>
      <Box sx={fieldsStyle}>
        <Autocomplete
          size="small"
          disableClearable
          value={request.placement}
          options={[...new Set([...placements, request.placement])]}
          onChange={(_event, placement) => setValues({ ...values, placement })}
          // Search only for typed text, not for a selected option.
          onInputChange={(_event, text, reason) => setSearchText(reason === 'input' ? text : '')}
          renderInput={(params) => <TextField {...params} label="Placement" />}
        />
        {field('userRef', 'Player ID')}
        {field('locale', 'Language')}
        {field('consent', 'Consent', options('granted', 'denied', 'unknown'))}
        {field('device', 'Device', options('desktop', 'mobile', 'tablet'))}
        {field('childDirected', 'Child-directed', options('no', 'yes'))}
        {field('country', 'Country (such as DE)')}
        {field('segments', 'Segments (a, b, c)')}
      </Box>
      <div>
        <Button
          variant="contained"
          disabled={isRunning || request.placement === ''}
          onClick={runTrial}
        >
          Try it
        </Button>
      </div>
      <div aria-live="polite">
        {result && (
          <DecisionSummary
            decision={result.decision}
            explain={result.explain ?? result.decision.explain ?? []}
            blockedBy={result.rule?.name}
          />
        )}
      </div>
    </Box>
  );
}

const fieldsStyle = {
  display: 'grid',
  gap: 2,
  gridTemplateColumns: 'repeat(auto-fill, minmax(180px, 1fr))',
};

const options = (...names: string[]) =>
  names.map((name) => (
    <MenuItem key={name} value={name}>
      {name}
    </MenuItem>
  ));

/** A dry run: the service makes the decision with its production code, but stores nothing. */
export const TryRequestPage = () => (
  <Page
    title="Try a request"
    lead="See what the service would decide. Nothing is stored, counted or sent to webhooks."
  >
    <PanelCard title="Request">
      <TryRequest />
    </PanelCard>
  </Page>
);

/** Tries a request against the policy as edited in the form, before the edits are saved. */
export function TryPolicy() {
  const { id, name, kind, placements, when, block, status } = toPolicy(
    useWatch() as Partial<Policy>,
  ) as Partial<Policy>;
  const policy = { name: name || 'This policy', kind, placements, when, block, status };
  return (
    <PanelCard title="Try this policy">
      <TryRequest policy={policy} policyId={id} />
    </PanelCard>
  );
}

/** A trial request's form values. */
interface TrialRequest {
  placement: string;
  userRef: string;
  locale: string;
  consent: 'granted' | 'denied' | 'unknown';
  device: 'desktop' | 'mobile' | 'tablet';
  childDirected: 'yes' | 'no';
  /** A two-letter code. */
  country: string;
  /** Comma-separated. */
  segments: string;
}

const defaultRequest: TrialRequest = {
  placement: '',
  userRef: 'player-1',
  locale: 'en',
  consent: 'granted',
  device: 'desktop',
  childDirected: 'no',
  country: '',
  segments: '',
};

/** Converts the form values to an ad request. */
const toRequest = (values: TrialRequest): DecisionRequest => ({
  placement: values.placement,
  consent: { status: values.consent },
  segments: [...new Set(values.segments.split(',').flatMap((name) => name.trim() || []))],
  ...(values.userRef === '' ? {} : { user_ref: values.userRef }),
  ...(values.locale === '' ? {} : { locale: values.locale }),
  ...(values.childDirected === 'yes' ? { child_directed: true } : {}),
});
