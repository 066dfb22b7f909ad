import type { Count } from '../report/rollup.ts';
import type { Scope } from '../store/database.ts';
import type { DecisionState } from './decision-state.ts';

/** One more of `metric` under everything that the decision is reported by. */
export function countOf(
  { environment }: Pick<Scope, 'environment'>,
  decision: Pick<
    DecisionState,
    'placement' | 'creativeId' | 'sourceId' | 'advertiserId' | 'houseAdId'
  >,
  atMs: number,
  metric: string,
  reason?: string,
): Count {
  const count: Count = { environment, dimensions: decision, atMs, metric };
  if (reason !== undefined) count.reason = reason;
  return count;
}
