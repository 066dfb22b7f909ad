/**
 * `npm run bench:dispatch` compares the service's webhook delivery with job queues on the same machine, and writes
 * docs/benchmarks/dispatch.
 */
import { execFileSync } from 'node:child_process';
import { startPrivatePostgres } from '../../../service/test/private-postgres.ts';
import { openPostgres } from '../../../service/src/store/postgres.ts';
import { startChild } from './child.ts';
import { type CommandLine, commandLine } from './command-line.ts';
import type { Contender, Setting } from './contenders.ts';
import { type Bench, crash, deliver } from './measure.ts';
import { writeReport } from './report.ts';
import { type Measurements, perSecond } from './results.ts';

const startedAt = performance.now();
const elapsedMinutes = (): number => (performance.now() - startedAt) / 60_000;
const log = (text: string): void =>
  console.log(`${elapsedMinutes().toFixed(1).padStart(5)} min  ${text}`);

// Exits normally on a signal, because the `exit` handlers that clean up the child processes would not run otherwise.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

await measureAndReport(commandLine);

async function measureAndReport(choice: CommandLine): Promise<void> {
  const postgres = await startPrivatePostgres();
  if (!postgres)
    throw new Error('PostgreSQL was not found on this machine. Install it or set POSTGRES_BIN.');
  const receiver = await startChild('receiver.mjs', 'openReceiver', {});
  try {
    const url = await receiver.call<string>('url');
    const bench = { postgres, receiver, url, warmUp: choice.plan.warmUp };
    const measurements = await measureAll(bench, choice);
    const results = {
      measurements,
      plan: choice.plan,
      minutes: elapsedMinutes(),
      postgresVersion: await readPostgresVersion(postgres.url),
      redisVersion: readRedisVersion(),
    };
    await writeReport(results, choice.isComplete);
  } finally {
    await receiver.kill();
    await postgres.stop();
  }
}

async function measureAll(
  bench: Bench,
  { selectedContenders, plan }: CommandLine,
): Promise<Measurements[]> {
  const hasRedis = readRedisVersion() !== undefined;
  const entries: { measurements: Measurements; setting: Setting }[] = [];
  for (const contender of selectedContenders) {
    const [setting] = contender.settings;
    const measurements: Measurements = {
      contender,
      tuning: [],
      setting: '',
      rounds: [],
      crashes: [],
    };
    if (contender.name === 'bullmq' && !hasRedis) {
      log('Skipping bullmq: redis-server is not installed on this machine.');
      entries.push({
        measurements: { ...measurements, gap: 'skipped: no redis-server on this machine' },
        setting,
      });
      continue;
    }
    const best = await tune(bench, contender, plan.tuning, measurements);
    entries.push({ measurements: { ...measurements, setting: best.label }, setting: best });
  }
  const runnableEntries = entries.filter(({ measurements }) => measurements.gap === undefined);
  // The contenders take turns, so that other load on the machine affects all of them equally.
  for (let round = 1; round <= plan.rounds; round += 1) {
    for (const { measurements, setting } of runnableEntries) {
      const run = await deliver(bench, measurements.contender, setting, plan.count);
      measurements.rounds.push(run);
      log(
        `round ${round} of ${plan.rounds}, ${measurements.contender.name}: ${perSecond(run).toFixed(0)} a second`,
      );
    }
  }
  for (let round = 1; round <= plan.crashes; round += 1) {
    for (const { measurements, setting } of runnableEntries) {
      const run = await crash(bench, measurements.contender, setting, plan.count);
      measurements.crashes.push(run);
      const { duplicated, lost } = run.tally;
      log(
        `killed after ${run.arrived} arrivals, ${measurements.contender.name}: done after ${(run.recoveryMs / 1_000).toFixed(1)} s, ${lost} lost, ${duplicated} duplicated`,
      );
    }
  }
  return entries.map(({ measurements }) => measurements);
}

/** Finds a contender's fastest setting. */
async function tune(
  bench: Bench,
  contender: Contender,
  count: number,
  { tuning }: Measurements,
): Promise<Setting> {
  const { name, settings } = contender;
  let [best] = settings;
  if (settings.length === 1) return best;
  let highest = 0;
  for (const setting of settings) {
    const rate = perSecond(await deliver(bench, contender, setting, count));
    tuning.push({ label: setting.label, perSecond: rate });
    log(`${name}, ${setting.label}: ${rate.toFixed(0)} a second`);
    if (rate > highest) [best, highest] = [setting, rate];
  }
  return best;
}

/** Returns the version of Redis on this machine, or undefined if it is not installed. */
function readRedisVersion(): string | undefined {
  try {
    const text = execFileSync('redis-server', ['--version'], { encoding: 'utf8', stdio: 'pipe' });
    return `Redis ${/v=([\d.]+)/.exec(text)?.[1] ?? ''}`;
  } catch {
    return undefined;
  }
}

async function readPostgresVersion(url: string): Promise<string> {
  const database = openPostgres(url, (error) => console.error(error));
  const [row] = await database.query<{ server_version: string }>('SHOW server_version');
  await database.close();
  return `PostgreSQL ${row?.server_version.split(' ')[0] ?? ''}`;
}
