import { Alert, Box, Button, Card, CardContent, TextField, Typography } from '@mui/material';
import type { KillSwitch } from '@trueward/protocol/wire';
import { useDeferredValue, useState } from 'react';
import { Loading, useCanAccess } from 'react-admin';
import { Page } from '../common/page.tsx';
import { TimeText } from '../common/time.tsx';
import type { KillTarget } from './kill-targets.ts';
import { StopDialog, useKillSwitchChange } from './stop-dialog.tsx';
import { useTargets } from './use-targets.ts';

/** Lists everything that a kill switch can stop. Each target has a button that is large enough to tap on a phone. */
export function KillSwitchPage() {
  const { canAccess = false } = useCanAccess({ resource: 'kill-switches', action: 'edit' });
  const [searchText, setSearchText] = useState('');
  const { targets, total, isPending, error } = useTargets(useDeferredValue(searchText.trim()));
  const [targetToStop, setTargetToStop] = useState<KillTarget>();
  const [effect, setEffect] = useState('');
  return (
    <Page
      title="Kill switches"
      lead="Stop a placement, an advertiser or a source immediately, including ads that are already loaded."
    >
      {error && <Alert severity="error">{error.message}</Alert>}
      {/* Stays in view, because the button may be far down the list. */}
      <Box role="status" sx={{ position: 'sticky', top: 64, zIndex: 2 }}>
        {effect !== '' && <Alert severity="success">{effect}</Alert>}
      </Box>
      <TextField
        label="Search"
        type="search"
        size="small"
        value={searchText}
        onChange={({ target }) => setSearchText(target.value)}
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
            onStop={() => setTargetToStop(target)}
            onEffect={setEffect}
          />
        ))}
      </Box>
      {total > targets.length && (
        <Typography color="textSecondary">
          Showing {targets.length} of {total}, stopped ones first. Search to find the others.
        </Typography>
      )}
      {targetToStop && (
        <StopDialog
          target={targetToStop}
          onClose={() => setTargetToStop(undefined)}
          onEffect={setEffect}
        />
      )}
    </Page>
  );
}

interface Props {
  target: KillTarget;
  canChange: boolean;
  onStop(): void;
  onEffect(text: string): void;
}

/** A target with its state and its button. */
function KillTargetRow({ target, canChange, onStop, onEffect }: Props) {
  const { scope, name, activeSwitches } = target;
  const isStopped = activeSwitches.length > 0;
  const { change, isRunning } = useKillSwitchChange(`${name} resumed`, onEffect);
  // Each kill switch alone stops the target, so resuming turns all of them off. A switch that someone has changed since
  // the page showed it is not turned off.
  const resume = () =>
    change(
      ...activeSwitches.map(({ id, etag }) => ({
        path: `/v1/kill-switches/${id}`,
        method: 'PATCH' as const,
        body: { state: 'off' },
        ifMatch: etag,
      })),
    );
  return (
    <Card component="li" sx={isStopped ? { borderColor: 'error.main', borderWidth: 2 } : undefined}>
      <CardContent
        sx={{ display: 'flex', alignItems: 'center', gap: 2, '&:last-child': { paddingBottom: 2 } }}
      >
        <div style={{ flexGrow: 1, minWidth: 0 }}>
          <Typography sx={{ fontWeight: 600, overflowWrap: 'anywhere' }}>{name}</Typography>
          <Typography variant="body2" color="textSecondary" component="div">
            {scope}
            {activeSwitches.map((killSwitch) => (
              <StopDetails key={killSwitch.id} killSwitch={killSwitch} />
            ))}
          </Typography>
        </div>
        <Button
          variant={isStopped ? 'outlined' : 'contained'}
          color={isStopped ? 'primary' : 'error'}
          size="large"
          disabled={!canChange || isRunning}
          onClick={isStopped ? resume : onStop}
          aria-label={isStopped ? `Resume ${name}` : `Stop ${name}`}
          sx={{ minHeight: 48, minWidth: 88, flexShrink: 0 }}
        >
          {isStopped ? 'Resume' : 'Stop'}
        </Button>
      </CardContent>
    </Card>
  );
}

const StopDetails = ({ killSwitch }: { killSwitch: KillSwitch }) => {
  const { updated_at: since, expires_at: until, reason, actor, on_behalf_of: person } = killSwitch;
  return (
    <>
      {' '}
      · stopped on <TimeText time={since} /> by {actor}
      {person !== undefined && <> for {person}</>}
      {until !== undefined && (
        <>
          , until <TimeText time={until} />
        </>
      )}
      {reason !== undefined && <>: {reason}</>}
    </>
  );
};
