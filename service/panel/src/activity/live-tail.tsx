import { Alert, Box, Button, Link, Typography } from '@mui/material';
import { useEffect, useState } from 'react';
import { Link as RouterLink } from 'react-router';
import { Page } from '../common/page.tsx';
import { humanize, StatusChip } from '../common/status-chip.tsx';
import { TimeText } from '../common/time.tsx';
import { addLine, readLine, type TailLine } from './tail-line.ts';

/** Ad requests and events in the sandbox, as they arrive. */
export function LiveTail() {
  const [isPaused, setPaused] = useState(false);
  const { lines, clear, isConnected } = useTail(isPaused);
  return (
    <Page
      title="Live tail"
      lead="Decisions and events in the sandbox, as they arrive. Start your game with a sandbox key."
    >
      <Box sx={{ display: 'flex', gap: 1, alignItems: 'center' }}>
        <Button variant="outlined" onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Resume' : 'Pause'}
        </Button>
        <Button onClick={clear}>Clear</Button>
        <span role="status">{isPaused ? 'Paused' : isConnected ? 'Connected' : 'Connecting…'}</span>
      </Box>
      {lines.length === 0 && <Alert severity="info">Waiting for events…</Alert>}
      <Box component="ol" reversed aria-label="Activity" sx={listStyle}>
        {lines.map((line) => (
          <Line key={line.key} line={line} />
        ))}
      </Box>
    </Page>
  );
}

function useTail(isPaused: boolean) {
  const [lines, setLines] = useState<readonly TailLine[]>([]);
  const [isConnected, setConnected] = useState(false);
  useEffect(() => {
    if (isPaused) return undefined;
    const source = new EventSource('/panel/api/live');
    const onMessage = ({ type, data }: MessageEvent<string>) =>
      setLines((before) => addLine(before, readLine(type, data)));
    source.addEventListener('decision', onMessage);
    source.addEventListener('event', onMessage);
    source.addEventListener('open', () => setConnected(true));
    source.addEventListener('error', () => setConnected(false));
    return () => source.close();
  }, [isPaused]);
  return { lines, clear: () => setLines([]), isConnected };
}

const Line = ({ line }: { line: TailLine }) => (
  <li>
    <TimeText time={line.time} /> <strong>{humanize(line.type)}</strong>{' '}
    {line.status !== undefined && <StatusChip status={line.status} />}{' '}
    {line.decisionId !== undefined && (
      <Link component={RouterLink} to={`/decisions/${line.decisionId}`}>
        {line.decisionId}
      </Link>
    )}
    {line.detail !== '' && (
      <Typography component="span" color="textSecondary">
        {' '}
        {line.detail}
      </Typography>
    )}
  </li>
);

const listStyle = {
  margin: 0,
  padding: 0,
  listStyle: 'none',
  '& li': { paddingBlock: 0.75, borderBottom: 1, borderColor: 'divider', overflowWrap: 'anywhere' },
};
