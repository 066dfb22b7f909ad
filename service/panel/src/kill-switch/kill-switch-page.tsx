import { Alert, Box, TextField, Typography } from '@mui/material';
import type { KillSwitch } from '@trueward/protocol/wire';
import { useState } from 'react';
import { Loading, useCanAccess, useGetList } from 'react-admin';
import { Page } from '../common/page.tsx';
import { KillTargetRow } from './kill-target-row.tsx';
import { type KillTarget, killTargets } from './kill-targets.ts';
import { StopDialog } from './stop-dialog.tsx';

const everything = { pagination: { page: 1, perPage: 1_000 } };

/** Everything that can be stopped, each with one button; made for a thumb on a phone as well. */
export function KillSwitchPage() {
  const { targets, isPending, error } = useTargets();
  const { canAccess = false } = useCanAccess({ resource: 'kill-switches', action: 'edit' });
  const [sought, setSought] = useState('');
  const [stopping, setStopping] = useState<KillTarget>();
  const [effect, setEffect] = useState('');
  const shown = targets.filter(({ name }) => name.toLowerCase().includes(sought.toLowerCase()));

  return (
    <Page
      title="Kill switches"
      lead="Stops a placement, an advertiser or a source at once, ads that were already decided included."
    >
      {error && <Alert severity="error">{error.message}</Alert>}
      <div role="status">{effect !== '' && <Alert severity="success">{effect}</Alert>}</div>
      <TextField
        label="Search"
        type="search"
        size="small"
        value={sought}
        onChange={({ target }) => setSought(target.value)}
        sx={{ maxWidth: 400 }}
      />
      {isPending && <Loading />}
      {!isPending && shown.length === 0 && <Typography>There is nothing by that name.</Typography>}
      <Box
        component="ul"
        sx={{ listStyle: 'none', margin: 0, padding: 0, display: 'grid', gap: 1 }}
      >
        {shown.map((target) => (
          <KillTargetRow
            key={target.id}
            target={target}
            canChange={canAccess}
            onStop={() => setStopping(target)}
            onEffect={setEffect}
          />
        ))}
      </Box>
      {stopping && (
        <StopDialog target={stopping} onClose={() => setStopping(undefined)} onEffect={setEffect} />
      )}
    </Page>
  );
}

function useTargets() {
  const placements = useGetList('placements', everything);
  const advertisers = useGetList('advertisers', everything);
  const sources = useGetList('sources', everything);
  const killSwitches = useGetList<KillSwitch>('kill-switches', everything);
  const all = [placements, advertisers, sources, killSwitches];
  const named = (list: { data?: { id: string; name: string }[] | undefined }) => list.data ?? [];
  return {
    targets: killTargets(
      { placement: named(placements), advertiser: named(advertisers), source: named(sources) },
      killSwitches.data ?? [],
      Date.now(),
    ),
    isPending: all.some((list) => list.isPending),
    error: all.find((list) => list.error)?.error as Error | undefined,
  };
}
