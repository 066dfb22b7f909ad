import { Autocomplete, Box, Button, MenuItem, TextField } from '@mui/material';
import type { Decision, DecisionRequest, Policy } from '@trueward/protocol/wire';
import { type ReactNode, useState } from 'react';
import { useWatch } from 'react-hook-form';
import { DecisionSummary } from '../activity/decision-summary.tsx';
import { useAction } from '../api/use-call.ts';
import { countries } from '../common/catalogs.ts';
import { LoadAnswer } from '../ad-rules/load-answer.tsx';
import { readSession } from '../ad-rules/read-session.ts';
import { PanelCard } from '../common/page.tsx';
import { usePlacementSearch } from '../common/placements-input.tsx';
import { toPolicy } from './describe-policy.ts';

interface TrialResult {
  decision: Decision;
  explain?: Decision['explain'];
  /** The policy that blocked the request. */
  rule?: Policy;
}

interface Props {
  /**
   * An unsaved policy or ad rule to apply in addition to the saved ones, and the id of the saved one that it replaces:
   * the members that the request adds.
   */
  draft?: { policy?: object; policy_id?: string; ad_rule?: object; ad_rule_id?: string };
  /** Tries a placement with this format by default. */
  format?: Decision['format'];
  /** The placement to try by default. */
  placement?: string | undefined;
}

/** A trial request and its result. This is not a form element, because it is also used inside a form. */
export function TryRequest({ draft, format, placement: defaultPlacement }: Props) {
  const [values, setValues] = useState(defaultRequest);
  const { run, isRunning, result } = useAction<TrialResult>({ refetches: false });
  const [searchText, setSearchText] = useState('');
  const found = usePlacementSearch(searchText);
  const placements = found.map(({ name }) => name);
  const suggested = found.find((placement) => placement.format === format) ?? found[0];
  const request = {
    ...values,
    placement: values.placement || (defaultPlacement ?? suggested?.name ?? ''),
  };
  const session = readSession(request.session, request.placement);
  const sessionError = typeof session === 'string' ? session : undefined;
  const runTrial = () =>
    run('/panel/api/policies/try', {
      body: {
        request: { ...toRequest(request), ...(session === undefined ? {} : { session }) },
        device: request.device,
        ...(request.country === '' ? {} : { country: request.country }),
        ...draft,
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
        <Autocomplete
          size="small"
          value={countries.find(({ id }) => id === request.country) ?? null}
          options={countries}
          getOptionLabel={({ id, name }) => `${name} · ${id}`}
          onChange={(_event, country) => setValues({ ...values, country: country?.id ?? '' })}
          renderInput={(params) => <TextField {...params} label="Country" />}
        />
        {field('segments', 'Segments (a, b, c)')}
      </Box>
      <TextField
        label="Session (JSON)"
        size="small"
        fullWidth
        multiline
        value={request.session}
        error={sessionError !== undefined}
        helperText={sessionError ?? sessionHint}
        onChange={({ target }) => setValues({ ...values, session: target.value })}
      />
      <div>
        <Button
          variant="contained"
          disabled={isRunning || request.placement === '' || sessionError !== undefined}
          onClick={runTrial}
        >
          Try it
        </Button>
      </div>
      <div aria-live="polite">
        {result && (
          <>
            {draft?.ad_rule && (
              <LoadAnswer decision={result.decision} explain={result.explain ?? []} />
            )}
            <DecisionSummary
              decision={result.decision}
              explain={result.explain ?? result.decision.explain ?? []}
              blockedBy={result.rule?.name}
            />
          </>
        )}
      </div>
    </Box>
  );
}

const sessionHint =
  'From an ad request, or made up: {"age_s": 95, "ads": [{"format": "rewarded", "ago_s": 20}]}. Leave empty for a server’s request.';

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

/** Tries a request against the policy as edited in the form, before the edits are saved. */
export function TryPolicy() {
  const { id, name, kind, placements, when, block, status } = toPolicy(
    useWatch() as Partial<Policy>,
  ) as Partial<Policy>;
  const policy = { name: name || 'This policy', kind, placements, when, block, status };
  return (
    <PanelCard title="Try this policy">
      <TryRequest
        draft={{ policy, ...(id === undefined ? {} : { policy_id: id }) }}
        placement={placements?.[0]}
      />
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
  /** As JSON. */
  session: string;
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
  session: '',
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
