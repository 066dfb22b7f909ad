import { humanize } from '../common/status-chip.tsx';
import type { StoredDecision, StoredEvent } from './stored-decision.ts';

/** A line in the live tail. */
export interface TailLine {
  key: number;
  time: string | undefined;
  /** `decision`, or the event's type. */
  type: string;
  status: string | undefined;
  /** Undefined for a rejected event without a decision id. */
  decisionId: string | undefined;
  detail: string;
}

/** Maximum number of lines. More lines would slow down the page. */
const maxLines = 500;

/** Adds a line at the top. */
export const addLine = (
  lines: readonly TailLine[],
  line: Omit<TailLine, 'key'>,
): readonly TailLine[] => [{ ...line, key: (lines[0]?.key ?? 0) + 1 }, ...lines].slice(0, maxLines);

/** Parses a message from the service. */
export function readLine(type: string, data: string): Omit<TailLine, 'key'> {
  if (type === 'decision') {
    const {
      id,
      issued_at: time,
      placement = '',
      reason,
      status,
    } = JSON.parse(data) as StoredDecision;
    const detail = reason === undefined ? placement : `${placement}, ${humanize(reason)}`;
    return { time, type: 'decision', status, decisionId: id, detail };
  }
  // For a malformed event, the service sends only the id.
  const event = JSON.parse(data) as Partial<StoredEvent> & { decision_id?: string };
  const { type: eventType = 'event', occurred_at: time, decision_id: decisionId } = event;
  const { status, code } = event;
  const detail = code === undefined ? '' : humanize(code);
  return { time, type: eventType, status, decisionId, detail };
}
