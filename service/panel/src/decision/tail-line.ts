import { inWords } from '../common/status-chip.tsx';
import type { StoredDecision, StoredEvent } from './stored-decision.ts';

/** One thing that happened, as the live tail shows it. */
export interface TailLine {
  key: number;
  time: string | undefined;
  what: string;
  status: string | undefined;
  /** Absent: an event that names none was refused. */
  decisionId: string | undefined;
  detail: string;
}

/** More would only make the page slow. */
const mostLines = 500;

/** The newest on top. */
export const addLine = (
  lines: readonly TailLine[],
  line: Omit<TailLine, 'key'>,
): readonly TailLine[] =>
  [{ ...line, key: (lines[0]?.key ?? 0) + 1 }, ...lines].slice(0, mostLines);

/** Reads what the service sent. */
export function readLine(type: string, data: string): Omit<TailLine, 'key'> {
  if (type === 'decision') {
    const {
      id,
      issued_at: time,
      placement = '',
      reason,
      status,
    } = JSON.parse(data) as StoredDecision;
    const detail = reason === undefined ? placement : `${placement}, ${inWords(reason)}`;
    return { time, what: 'decision', status, decisionId: id, detail };
  }
  // Of an event whose form is wrong, the service knows the id only.
  const event = JSON.parse(data) as Partial<StoredEvent> & { decision_id?: string };
  const { type: what = 'event', occurred_at: time, decision_id: decisionId, status, code } = event;
  return { time, what, status, decisionId, detail: code === undefined ? '' : inWords(code) };
}
