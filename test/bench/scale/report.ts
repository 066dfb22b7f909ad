import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { format } from 'prettier';
import { drawRowChart } from '../outbox/report/row-chart.ts';
import type { Found } from './part.ts';

const folder = join(import.meta.dirname, '../../../docs/benchmarks/service');

type Stored = Record<string, Found & { measured: string }>;

/** Puts what was measured beside what is known of the other parts, and writes tables and plots anew. */
export async function writeReport(found: Record<string, Found>): Promise<void> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'scale.json');
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Stored) : {};
  const [cpu] = cpus();
  const date = new Date().toISOString().slice(0, 10);
  const measured = `${date}, ${cpus().length} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, load ${(loadavg()[0] ?? 0).toFixed(1)}, Node ${process.versions.node}`;
  for (const [name, part] of Object.entries(found)) known[name] = { ...part, measured };
  const write = async (name: string, text: string, parser: string): Promise<void> =>
    writeFile(join(folder, name), await format(text, { parser, printWidth: 100 }));
  await write('scale.json', JSON.stringify(known), 'json');
  await write('scale.md', describe(known), 'markdown');
  for (const [name, { plot }] of Object.entries(known)) {
    if (plot) await writeFile(join(folder, `scale-${name}.svg`), draw(plot));
  }
}

const table = (head: (string | number)[], rows: (string | number)[][]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

const describe = (known: Stored): string => `# Several processes, many rows

\`npm run bench:scale\` measures this again, \`npm run bench:scale -- --only events\` a part of it.

${table(
  ['Budget', 'Measured', ''],
  Object.values(known).flatMap(({ verdicts }) =>
    verdicts.map(({ budget, measured, held }) => [
      budget,
      measured,
      held ? 'held' : '**not held**',
    ]),
  ),
)}

${Object.entries(known)
  .map(
    ([name, { head, rows, note, plot, measured }]) => `## ${plot?.title ?? name}

${measured}. ${note}

${table(head, rows)}
${plot ? `\n![${plot.title}](scale-${name}.svg)\n` : ''}`,
  )
  .join('\n')}`;

const draw = ({ title, axis, rows }: NonNullable<Found['plot']>): string =>
  drawRowChart({
    title,
    axis,
    series: [axis],
    rows: rows.map(({ label, value }) => ({ label, emphasized: true, values: [value] })),
    style: 'bars',
    format: (value) => value.toFixed(0),
  });
