import { Alert } from '@mui/material';
import type { Decision } from '@trueward/protocol/wire';
import { describeAnswer } from './describe-answer.ts';

/** Says whether the next ad would be shown and, if a rule holds it back, when. */
export function LoadAnswer({
  decision,
  explain,
}: {
  decision: Decision;
  explain: readonly { name: string }[];
}) {
  const answer = describeAnswer(decision, explain);
  if (!answer) return null;
  return <Alert severity={answer.isShown ? 'success' : 'info'}>{answer.text}</Alert>;
}
