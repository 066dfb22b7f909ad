const dash = '–';

/**
 * Formats a number below 100 with three significant digits, and any other number as an integer with thousands separators.
 */
export function format(value: number | undefined, unit = ''): string {
  if (value === undefined || !Number.isFinite(value)) return dash;
  const rounded = Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
  const text = rounded.toLocaleString('en', { maximumFractionDigits: 3 });
  return unit === '' ? text : `${text} ${unit}`;
}

/** Formats several numbers for one table cell. */
export const formatAll = (values: (number | undefined)[], separator = ' / '): string =>
  values.every((value) => value === undefined)
    ? dash
    : values.map((value) => format(value)).join(separator);

/**
 * Builds a Markdown table. The first column contains text, and the others contain numbers. Missing cells of contenders
 * without results are shown as dashes.
 */
export function table(header: string[], rows: string[][]): string {
  const line = (cells: string[]): string =>
    `| ${header.map((_, index) => cells[index] ?? dash).join(' | ')} |`;
  const alignment = header.map((_, index) => (index === 0 ? '---' : '--:'));
  return [line(header), line(alignment), ...rows.map(line)].join('\n');
}
