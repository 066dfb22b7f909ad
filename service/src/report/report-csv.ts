import { reportMetrics } from '@trueward/protocol';
import type { Report } from '@trueward/protocol/wire';
import type { ReportDimension } from './report.ts';

const rates = ['fill_rate', 'view_through_rate', 'completion_rate'] as const;

/** A report as CSV (RFC 4180): what it was grouped by, then every sum and rate. Reasons need `group_by=reason`. */
export function reportCsv({ data }: Report, groupBy: readonly ReportDimension[]): string {
  const columns = ['period', ...groupBy, ...reportMetrics, ...rates] as const;
  const lines = data.map((row) => columns.map((name) => quote(String(row[name] ?? ''))).join(','));
  return [columns.join(','), ...lines, ''].join('\r\n');
}

const quote = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
