import { Alert, Box, TextField, Typography } from '@mui/material';
import { useDeferredValue, useState } from 'react';
import { Loading, useCanAccess } from 'react-admin';
import { Page } from '../common/page.tsx';
import { KillTargetRow } from './kill-target-row.tsx';
import type { KillTarget } from './kill-targets.ts';
import { StopDialog } from './stop-dialog.tsx';
import { useTargets } from './use-targets.ts';

/** Everything that can be stopped, each with one button; made for a thumb on a phone as well. */
export function KillSwitchPage() {
  const { canAccess = false } = useCanAccess({ resource: 'kill-switches', action: 'edit' });
  const [sought, setSought] = useState('');
  const { targets, total, isPending, error } = useTargets(useDeferredValue(sought.trim()));
  const [stopping, setStopping] = useState<KillTarget>();
  const [effect, setEffect] = useState('');
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
      {!isPending && !error && targets.length === 0 && <Typography>No matches.</Typography>}
      <Box
        component="ul"
        sx={{ listStyle: 'none', margin: 0, padding: 0, display: 'grid', gap: 1 }}
      >
        {targets.map((target) => (
          <KillTargetRow
            key={target.id}
            target={target}
            canChange={canAccess}
            onStop={() => setStopping(target)}
            onEffect={setEffect}
          />
        ))}
      </Box>
      {total > targets.length && (
        <Typography color="textSecondary">
          {targets.length} of {total} are shown, the stopped ones first. Search for the others.
        </Typography>
      )}
      {stopping && (
        <StopDialog target={stopping} onClose={() => setStopping(undefined)} onEffect={setEffect} />
      )}
    </Page>
  );
}
