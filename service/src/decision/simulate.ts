import type { DecisionRequest } from '@trueward/protocol/wire';
import type { Unfilled } from './decide.ts';

/**
 * The verdict that a sandbox request forces, or undefined when the ordinary one is wanted:
 * `slow`, `error` and the two about rewards change something else.
 */
export function simulateVerdict(simulate: DecisionRequest['simulate']): Unfilled | undefined {
  switch (simulate) {
    case 'no_fill':
      return { status: 'no_fill', reason: 'no_candidates', explain: [] };
    case 'blocked':
      return { status: 'blocked', reason: 'policy', explain: [] };
    case 'killed':
      return { status: 'no_fill', reason: 'killed', explain: [] };
    default:
      return undefined;
  }
}
