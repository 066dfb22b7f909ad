/** A chart that compares contenders. It has one row per contender and, in each row, one mark per series. */
export interface RowChart {
  title: string;
  /** The axis title, with its unit. */
  axis: string;
  /** Names of the series, in the order of their marks. A single series needs no legend. */
  series: string[];
  rows: { label: string; emphasized: boolean; values: (number | undefined)[] }[];
  /** `dots` use a logarithmic axis. `bars` start at 0. */
  style: 'dots' | 'bars';
  format: (value: number) => string;
}

/**
 * Colors from light to dark. Color-blind readers can tell them apart, and they are also distinguishable in grayscale.
 */
const colors = ['#9ecae1', '#4292c6', '#08519c', '#021d3f'];
const ink = '#1b2430';
const faint = '#d5dbe3';
const size = { width: 860, left: 130, right: 90, bottom: 44 };
const plotWidth = size.width - size.left - size.right;

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const text = (x: number, y: number, content: string, attributes = ''): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${escapeXml(content)}</text>`;

const selectColor = (index: number, count: number): string =>
  colors[count === 1 ? 2 : index + (count === 2 ? 1 : 0)] ?? ink;

interface Axis {
  place(value: number): number;
  ticks: number[];
}

function logarithmicAxis(values: number[]): Axis {
  const [low, high] = [Math.log10(Math.min(...values)), Math.log10(Math.max(...values))];
  const [from, to] = [Math.floor(low), Math.max(Math.ceil(high), Math.floor(low) + 1)];
  return {
    place: (value) => size.left + ((Math.log10(value) - from) / (to - from)) * plotWidth,
    ticks: Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index)),
  };
}

function linearAxis(values: number[]): Axis {
  const highest = Math.max(1, ...values);
  const magnitude = 10 ** Math.floor(Math.log10(highest));
  const step = [0.2, 0.5, 1]
    .map((part) => part * magnitude)
    .find((candidate) => highest / candidate <= 6);
  const tick = step ?? magnitude * 2;
  const count = Math.ceil(highest / tick - 1e-9);
  return {
    place: (value) => size.left + (value / (count * tick)) * plotWidth,
    ticks: Array.from({ length: count + 1 }, (_, index) => index * tick),
  };
}

/** Draws the chart as an SVG document. */
export function drawRowChart(chart: RowChart): string {
  const rowHeight = chart.style === 'dots' ? 26 : 10 + 12 * chart.series.length;
  const values = chart.rows
    .flatMap(({ values }) => values)
    .filter((value) => value !== undefined && (chart.style === 'bars' || value > 0))
    .map(Number);
  const axis = chart.style === 'dots' ? logarithmicAxis(values) : linearAxis(values);
  const top = chart.series.length === 1 ? 48 : 76;
  const bottom = top + rowHeight * chart.rows.length;
  const height = bottom + size.bottom;
  const rows = chart.rows.map((row, index) =>
    drawRow(chart, axis, row, { top: top + rowHeight * index, height: rowHeight }),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${height}" width="${size.width}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="13" fill="${ink}">`,
    `<title>${escapeXml(chart.title)}</title>`,
    `<rect width="${size.width}" height="${height}" fill="#ffffff"/>`,
    text(16, 28, chart.title, 'font-size="17" font-weight="600"'),
    drawLegend(chart.series),
    ...axis.ticks.map((tick) => drawTick(axis.place(tick), top, bottom, chart.format(tick))),
    text(size.left + plotWidth / 2, bottom + 36, chart.axis, 'text-anchor="middle"'),
    ...rows,
    '</svg>\n',
  ].join('\n');
}

function drawTick(x: number, top: number, bottom: number, label: string): string {
  return (
    `<line x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${top}" y2="${bottom}" stroke="${faint}"/>` +
    text(x, bottom + 17, label, 'text-anchor="middle" font-size="12"')
  );
}

function drawLegend(series: string[]): string {
  if (series.length === 1) return '';
  let x = size.left;
  return series
    .map((name, index) => {
      const color = selectColor(index, series.length);
      const entry = `<circle cx="${x}" cy="52" r="6" fill="${color}"/>${text(x + 11, 56.5, name)}`;
      x += 34 + name.length * 7.2;
      return entry;
    })
    .join('\n');
}

function drawRow(
  { style, series, format }: RowChart,
  axis: Axis,
  { label, emphasized, values }: RowChart['rows'][number],
  place: { top: number; height: number },
): string {
  const middle = place.top + place.height / 2;
  const weight = emphasized ? ' font-weight="700"' : '';
  const band = emphasized
    ? `<rect x="0" y="${place.top}" width="${size.width}" height="${place.height}" fill="#ffe9a8" opacity="0.5"/>`
    : '';
  const marks = values.map((value, index) => {
    const color = selectColor(index, series.length);
    if (style === 'bars') return drawBar(axis, value, color, place.top + 5 + 12 * index, format);
    if (value === undefined || value <= 0) return '';
    return `<circle cx="${axis.place(value).toFixed(1)}" cy="${middle}" r="6" fill="${color}" stroke="#ffffff"/>`;
  });
  return [
    band,
    text(size.left - 12, middle + 4.5, label, `text-anchor="end"${weight}`),
    ...marks,
    style === 'dots' ? drawValueBesideDots(axis, values, middle, format) : '',
  ].join('');
}

function drawBar(
  axis: Axis,
  value: number | undefined,
  color: string,
  y: number,
  format: (value: number) => string,
): string {
  const end = axis.place(value ?? 0);
  const label = value === undefined ? 'not measured' : format(value);
  return (
    `<rect x="${size.left}" y="${y}" width="${(end - size.left).toFixed(1)}" height="10" fill="${color}"/>` +
    text(end + 6, y + 9.5, label, 'font-size="11"')
  );
}

/** Draws the last value as text to the right of the rightmost dot. */
function drawValueBesideDots(
  axis: Axis,
  values: (number | undefined)[],
  middle: number,
  format: (value: number) => string,
): string {
  const positive = values.filter((value) => value !== undefined && value > 0).map(Number);
  const last = positive.at(-1);
  if (last === undefined) return text(size.left + 8, middle + 4, 'not measured', 'font-size="11"');
  return text(axis.place(Math.max(...positive)) + 12, middle + 4, format(last), 'font-size="11"');
}
