import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { format as prettify, resolveConfig } from 'prettier';
import { summarize, type Report } from '../summary.ts';
import type { Results } from '../results.ts';
import { format } from './markdown.ts';
import { drawPlots } from './plots.ts';
import { sections, type Section } from './sections.ts';
import { judge, describeVerdict, type Verdict } from './verdicts.ts';

const root = join(import.meta.dirname, '..', '..', '..', '..');

/** Writes the table, the plots and the data, and prints the verdicts. */
export async function writeReport(results: Results, isComplete: boolean): Promise<void> {
  const folder = join(root, isComplete ? 'docs/benchmarks/outbox' : '.cache/bench-outbox');
  const report = summarize(results);
  const verdicts = judge(report);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writePretty(join(folder, 'README.md'), write(report, verdicts));
  await writePretty(join(folder, 'results.json'), toJson({ ...report, verdicts }));
  for (const [name, svg] of drawPlots(report)) await writeFile(join(folder, `${name}.svg`), svg);
  console.log(`\n${relative(root, folder)}: README.md, results.json and plots\n`);
  for (const verdict of verdicts)
    console.log(
      `${describeVerdict(verdict).padEnd(12)} ${verdict.claim}\n${' '.repeat(13)}${verdict.value}`,
    );
}

/** Formats the file, because the format check includes generated files. */
const writePretty = async (file: string, content: string): Promise<void> =>
  writeFile(file, await prettify(content, { ...(await resolveConfig(file)), filepath: file }));

const toJson = (value: unknown): string => {
  // Rounded to the resolution of the clock.
  const short = (_: string, member: unknown): unknown =>
    typeof member === 'number' ? Number(member.toFixed(3)) : member;
  return JSON.stringify(value, short);
};

function write(report: Report, verdicts: Verdict[]): string {
  const { about, minutes, gaps, summaries } = report;
  return [
    '# The outbox compared with other event queues',
    '',
    'Made by `npm run bench:outbox`; do not edit. Wall times depend on the machine and its load: ' +
      'compare only ratios and counts of one run.',
    '',
    `- ${about.date.slice(0, 16).replace('T', ' ')} UTC, ${format(minutes)} minutes, outbox ${about.outbox}`,
    `- ${about.machine}, ${about.system}, Node ${about.node}, headless Chromium ${about.chromium}`,
    ...summaries.map(
      ({ facts, version }) =>
        `- \`${facts.name}\`: ${[facts.package && `${facts.package} ${version}`, facts.note].filter(Boolean).join(', ')}`,
    ),
    '',
    '## Claims',
    '',
    ...verdicts.map(
      (verdict) =>
        `- **${describeVerdict(verdict)}**: ${verdict.claim}. Measured: ${verdict.value}.`,
    ),
    ...sections(report).flatMap(writeSection),
    ...(gaps.length > 0 ? ['', '## Not measured', '', ...gaps.map((gap) => `- ${gap}`)] : []),
    '',
  ].join('\n');
}

const writeSection = ({ title, plots, table, method }: Section): string[] => [
  `\n## ${title}\n\n${method}\n`,
  ...plots.flatMap((plot) => [`![${title}](${plot}.svg)`, '']),
  table,
];
