import { Alert, Box, Link, Table, TableBody, TableCell, TableHead, TableRow } from '@mui/material';
import type { Decision } from '@trueward/protocol/wire';
import type { ReactNode } from 'react';
import { Link as RouterLink } from 'react-router';
import { Facts } from '../common/facts.tsx';
import { formatDuration } from '../common/duration.ts';
import { describeAdReason } from '../common/reasons.ts';
import { StatusChip } from '../common/status-chip.tsx';
import { TimeText } from '../common/time.tsx';
import type { Cause } from './stored-decision.ts';

interface Props {
  decision: Partial<Decision>;
  explain: NonNullable<Decision['explain']>;
  /** Name of the policy that blocked the request. */
  blockedBy?: string | undefined;
  /** The rule that blocked every ad. */
  cause?: Cause | undefined;
  /** What else is known about the request. Listed before the decision. */
  facts?: Record<string, ReactNode>;
}

/** A decision, with the reason why each candidate was or wasn't chosen. */
export function DecisionSummary({ decision, explain, blockedBy, cause, facts }: Props) {
  const { status, reason, retry_at: retryAt, reward } = decision;
  return (
    <Box sx={{ display: 'grid', gap: 2, gridTemplateColumns: 'minmax(0, 1fr)' }}>
      <Facts
        facts={{
          ...facts,
          Decision: status && <StatusChip status={status} />,
          Reason: reason && describeAdReason(reason).name,
          Meaning: reason && describeAdReason(reason).text,
          'Blocked by': blockedBy,
          'Retry after': retryAt && <TimeText time={retryAt} />,
          Placement: decision.placement,
          Format: decision.format,
          Reward: reward && `${reward.amount} ${reward.type}`,
          'Required watch time':
            decision.min_watch_ms === undefined ? undefined : formatDuration(decision.min_watch_ms),
        }}
      />
      {explain[0]?.ad_rule_id !== undefined ? (
        <Alert severity="info">
          No ads were considered because of an{' '}
          <Link component={RouterLink} to={`/ad-rules/${explain[0].ad_rule_id}`}>
            ad rule
          </Link>
          : {explain[0].name}
        </Alert>
      ) : explain.length === 0 ? (
        <Alert severity="info">
          {cause ? <CauseText cause={cause} /> : describeNoFill(reason, blockedBy)}
        </Alert>
      ) : (
        <Explanation explain={explain} />
      )}
    </Box>
  );
}

function CauseText({ cause: { type, id, actor, since, text } }: { cause: Cause }) {
  const [kind, path] =
    type === 'policy' ? ['the policy', `/policies/${id}`] : ['a kill switch', '/kill-switches'];
  return (
    <>
      No ads were considered because of{' '}
      <Link component={RouterLink} to={path}>
        {kind}
      </Link>
      {text !== undefined && ` “${text}”`}
      {actor !== undefined && `, set by ${actor}`}
      {since !== undefined && (
        <>
          {' '}
          on <TimeText time={since} />
        </>
      )}
      .
    </>
  );
}

function describeNoFill(reason: string | undefined, blockedBy: string | undefined): string {
  if (blockedBy !== undefined) return 'No ads were considered: a policy blocks every ad.';
  return `No ads were considered. ${describeAdReason(reason ?? 'no_candidates').text}`;
}

const Explanation = ({ explain }: Pick<Props, 'explain'>) => (
  <Table size="small">
    <caption style={{ captionSide: 'top', paddingInline: 0 }}>Candidates</caption>
    <TableHead>
      <TableRow>
        <TableCell>Ad</TableCell>
        <TableCell>Result</TableCell>
      </TableRow>
    </TableHead>
    <TableBody>
      {explain.map(({ name, verdict, house_ad_id: houseAdId }, index) => (
        <TableRow key={houseAdId ?? index}>
          <TableCell>{name}</TableCell>
          <TableCell>
            <StatusChip status={verdict === 'chosen' ? verdict : describeAdReason(verdict).name} />
            <div>{describeAdReason(verdict).text}</div>
          </TableCell>
        </TableRow>
      ))}
    </TableBody>
  </Table>
);
