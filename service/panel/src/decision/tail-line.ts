import type { StoredDecision, StoredEvent } from './stored-decision.ts';

/** One thing that happened, as the live tail shows it. */
export interface TailLine {
  key: string;
  time: string | undefined;
  what: string;
  status: string | undefined;
  decisionId: string;
  detail: string;
}

/** More would only make the page slow. */
const mostLines = 500;

/** The newest on top. */
export const addLine = (lines: readonly TailLine[], line: TailLine): readonly TailLine[] =>
  [line, ...lines].slice(0, mostLines);

/** Reads what the service sent. */
export function readLine(type: string, data: string): TailLine {
  if (type === 'decision') {
    const {
      id,
      issued_at: time,
      placement = '',
      reason,
      status,
    } = JSON.parse(data) as StoredDecision;
    const detail =
      reason === undefined ? placement : `${placement}, ${reason.replaceAll('_', ' ')}`;
    return { key: id, time, what: 'decision', status, decisionId: id, detail };
  }
  const event = JSON.parse(data) as StoredEvent & { decision_id: string };
  const { id, type: what, occurred_at: time, decision_id: decisionId, status, code } = event;
  // The same event again is a line of its own: it was refused as a duplicate.
  return { key: `${id} ${status} ${time}`, time, what, status, decisionId, detail: code ?? '' };
}
