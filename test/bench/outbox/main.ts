import { type CommandLine, commandLine } from './command-line.ts';
import { describeRun } from './run-info.ts';
import { bundleContender, bundlePage } from './bundle.ts';
import { cleanUp } from './chromium.ts';
import type { ContenderInfo } from './contenders.ts';
import { startReceiver, type Files } from './receiver.ts';
import type { Measurements, Results } from './results.ts';
import { planJobs, type Job } from './schedule.ts';
import { writeReport } from './report/write-report.ts';

const startedAt = performance.now();
const formatElapsed = (): string => {
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
};

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    void cleanUp().finally(() => process.exit(130));
  });

await measureAndReport(commandLine);

async function measureAndReport({
  plan,
  selectedContenders,
  isComplete,
}: CommandLine): Promise<void> {
  const files: Files = new Map([['/bench.js', await bundlePage()]]);
  const measurements: Measurements[] = [];
  for (const facts of selectedContenders) measurements.push(await prepare(facts, files));
  const receiver = await startReceiver(files);
  try {
    const about = await describeRun(selectedContenders);
    const gaps = await runJobs(planJobs({ plan, receiver }, measurements), plan.budgetMs);
    const minutes = (performance.now() - startedAt) / 60_000;
    const results: Results = { about, measurements, gaps, minutes };
    await writeReport(results, isComplete);
  } finally {
    await receiver.close();
    await cleanUp();
  }
}

/** Bundles a contender and adds its script to the served files. */
async function prepare(facts: ContenderInfo, files: Files): Promise<Measurements> {
  const bundle = await bundleContender(facts);
  if (bundle) files.set(`/contenders/${facts.name}.js`, bundle.code);
  return { facts, size: bundle?.size, life: undefined, kills: [], faultyDrain: undefined };
}

/** Runs the jobs one after another. Returns the gaps: the jobs that failed or were skipped for lack of time. */
async function runJobs(jobs: Job[], budgetMs: number): Promise<string[]> {
  const gaps: string[] = [];
  for (const [index, { title, run }] of jobs.entries()) {
    if (performance.now() - startedAt > budgetMs) {
      gaps.push(`${title}: skipped, no time left`);
      continue;
    }
    console.log(`[${String(index + 1).padStart(3)}/${jobs.length}] ${formatElapsed()} ${title}`);
    try {
      await run();
    } catch (error) {
      gaps.push(`${title}: ${error instanceof Error ? error.message : String(error)}`);
      console.log(`          ${gaps.at(-1)}`);
    }
  }
  return gaps;
}
