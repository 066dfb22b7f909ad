import type { AuditEntry } from '@trueward/protocol/wire';
import { findDifferences } from './differences.ts';

/** Writes audit entries as CSV (RFC 4180), one row per changed field. Times are UTC. */
export function writeAuditCsv(entries: readonly AuditEntry[]): string {
  const rows = entries.flatMap(
    ({ created_at: time, actor, action, target_id: id, before, after }) => {
      const start = [time, actor, action, getTargetName(before, after) ?? '', id];
      const changes = findDifferences(before, after);
      return changes.length === 0
        ? [[...start, '', '', '']]
        : changes.map(({ name, from = '', to = '' }) => [...start, name, from, to]);
    },
  );
  const header = ['time', 'actor', 'action', 'name', 'object_id', 'field', 'before', 'after'];
  return [header, ...rows].map((row) => row.map(escapeCell).join(',')).join('\r\n');
}

/** Returns an object's name at the time of a change, if it had one. */
export function getTargetName(before: object = {}, after: object = before): string | undefined {
  const { name, url, email } = after as Record<string, unknown>;
  return [name, url, email].find((value) => typeof value === 'string');
}

/** Quotes a cell. A spreadsheet would run a cell that starts like a formula, so such a cell starts with an apostrophe. */
function escapeCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
