import { Button, Card, CardContent, Typography } from '@mui/material';
import type { KillSwitch } from '@trueward/protocol/wire';
import { TimeText } from '../common/time-text.tsx';
import type { KillTarget } from './kill-targets.ts';
import { useEffectTime } from './use-effect-time.ts';

interface Props {
  target: KillTarget;
  canChange: boolean;
  onStop(): void;
  onEffect(text: string): void;
}

/** One thing that can be stopped: what it is, whether it is stopped, and the one button. */
export function KillTargetRow({ target, canChange, onStop, onEffect }: Props) {
  const { scope, name, isStopped, killSwitch } = target;
  const { change, isRunning } = useEffectTime(`${name} runs again`, onEffect);
  const resume = () =>
    change({
      path: `/v1/kill-switches/${killSwitch?.id}`,
      method: 'PATCH',
      body: { state: 'off' },
    });
  return (
    <Card component="li" sx={isStopped ? { borderColor: 'error.main', borderWidth: 2 } : undefined}>
      <CardContent
        sx={{ display: 'flex', alignItems: 'center', gap: 2, '&:last-child': { paddingBottom: 2 } }}
      >
        <div style={{ flexGrow: 1, minWidth: 0 }}>
          <Typography sx={{ fontWeight: 600, overflowWrap: 'anywhere' }}>{name}</Typography>
          <Typography variant="body2" color="textSecondary" component="div">
            {scope}
            {isStopped && killSwitch && <Stopped killSwitch={killSwitch} />}
          </Typography>
        </div>
        <Button
          variant={isStopped ? 'outlined' : 'contained'}
          color={isStopped ? 'primary' : 'error'}
          size="large"
          disabled={!canChange || isRunning}
          onClick={isStopped ? resume : onStop}
          aria-label={isStopped ? `Let ${name} run again` : `Stop ${name}`}
          sx={{ minHeight: 48, minWidth: 88, flexShrink: 0 }}
        >
          {isStopped ? 'Resume' : 'Stop'}
        </Button>
      </CardContent>
    </Card>
  );
}

const Stopped = ({ killSwitch }: { killSwitch: KillSwitch }) => {
  const { updated_at: since, expires_at: until, reason, actor } = killSwitch;
  return (
    <>
      {' '}
      · stopped since <TimeText time={since} /> by {actor}
      {until !== undefined && (
        <>
          , until <TimeText time={until} />
        </>
      )}
      {reason !== undefined && <>: {reason}</>}
    </>
  );
};
