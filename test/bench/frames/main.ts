/** Measures the SDK's per-frame overhead in a game, in real Chromium with real Phaser. */
import { type Browser, chromium } from 'playwright';
import { peer } from './command-line.ts';
import { measureIdle, openPage, traceTasks } from './measure.ts';
import type { Contender } from './page/contenders.ts';
import { writeReport, type Results } from './report.ts';
import { phasers, startSite } from './site.ts';

const contenders: Contender[] = [
  'nothing',
  'trueward',
  'truewardDelivering',
  'alwaysAttached',
  'sceneWatcher',
];
if (peer !== undefined) contenders.push('peer');
const versions = Object.keys(phasers);
const events = 10_000;
const rewards = 1000;
const breaks = 10;
/**
 * How many times to measure the drain. A given frame does the same work in every run, so its lowest time over all runs
 * excludes most interruptions by other processes.
 */
const drainCount = 2;

const executablePath = process.env['CHROMIUM_PATH'];
if (executablePath === undefined)
  throw new Error('CHROMIUM_PATH is not set; start this with `npm run bench:frames`.');
const site = await startSite(peer);
const browser = await chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update'],
});
try {
  const idle: Results['idle'] = [];
  const deltas: Results['deltas'] = [];
  for (const version of versions) {
    for (const contender of contenders) {
      console.log(`Phaser ${version}: ${contender}`);
      const page = await openPage(browser, site.url, version);
      idle.push({ version, contender, figures: await measureIdle(page, contender) });
      await page.close();
    }
    const page = await openPage(browser, site.url, version);
    const firstDeltas = await page.evaluate(
      (count) => window.bench.measureFirstDeltas(count),
      breaks,
    );
    deltas.push({ version, ...firstDeltas });
    await page.close();
  }
  const drainResults = await measureDrains(browser);
  await writeReport({ chromium: browser.version(), idle, deltas, ...drainResults });
  console.log('Wrote docs/benchmarks/frames');
} finally {
  await browser.close();
  await site.close();
}

async function measureDrains(browserInUse: Browser): Promise<Pick<Results, 'drains' | 'alone'>> {
  const page = await openPage(browserInUse, site.url, versions[0] ?? '');
  const drains: Results['drains'] = [];
  for (let run = 1; run <= drainCount; run += 1) {
    console.log(`draining ${events} events and ${rewards} rewards, run ${run} of ${drainCount}`);
    await page.evaluate(([eventCount, due]) => window.bench.fill(eventCount, due), [
      events,
      rewards,
    ] as const);
    await page.reload();
    // The game boots before the trace starts, because booting does not count toward the budget.
    await page.evaluate(() => window.bench.boot());
    const { result, tasks } = await traceTasks(browserInUse, page, () =>
      page.evaluate((due) => window.bench.drain(due), rewards),
    );
    if (result.rewards !== rewards)
      throw new Error(`Expected ${rewards} rewards to be delivered, got ${result.rewards}.`);
    drains.push({ events, ...result, tasks });
    await page.reload();
  }
  await page.evaluate(() => window.bench.boot());
  // The baseline runs for as long as all drains combined, so that other processes interrupt it about as often.
  const totalDrainMs = drains.reduce((sum, { ms }) => sum + ms, 0);
  console.log(`the game alone, ${Math.round(totalDrainMs / 1000)} s`);
  const { tasks: alone } = await traceTasks(browserInUse, page, () =>
    page.evaluate((ms) => window.bench.playAlone(ms), totalDrainMs),
  );
  await page.close();
  return { drains, alone };
}
