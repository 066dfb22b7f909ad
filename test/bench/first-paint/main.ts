/**
 * Measures how long a player waits for an ad's first frame after `showRewarded()`, with and without preloading. The ad
 * is the demo's video in real Chromium, with the real service on this machine. Each measurement ends with the `start`
 * event, two animation frames after the video's `playing` event. As a baseline, a bare `<video>` plays the same file,
 * which is already loaded.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright';
import { launchBrowser } from '../../e2e/browser.ts';
import { startStack } from '../../e2e/stack.ts';
import { median, percentile, ratio } from '../outbox/statistics.ts';
import { rounds } from './command-line.ts';

const results = join(import.meta.dirname, '../../../docs/benchmarks/first-paint.md');

interface Series {
  name: string;
  milliseconds: number[];
  /** For each ad, the number of decision requests before the first frame. */
  requests: number[];
}

const stack = await startStack();
const browser = await launchBrowser();
try {
  const page = await browser.newPage();
  await page.goto(stack.pageFor('bench'));
  await page.locator('#play').click();
  const series: Series[] = [
    { name: 'preloaded', milliseconds: [], requests: [] },
    { name: 'not preloaded', milliseconds: [], requests: [] },
    { name: 'bare `<video>`', milliseconds: [], requests: [] },
  ];
  for (let round = 0; round < rounds; round += 1) {
    process.stdout.write(`\rround ${round + 1} of ${rounds}`);
    const [preloaded, fresh, bare] = series;
    await measure(page, preloaded, () => showAd(page, true));
    await measure(page, fresh, () => showAd(page, false));
    await measure(page, bare, () => playBare(page));
  }
  await report(series, browser.version());
} finally {
  await browser.close();
  await stack.stop();
}

async function measure(
  page: Page,
  series: Series | undefined,
  run: () => Promise<number>,
): Promise<void> {
  let requests = 0;
  const count = (request: { url(): string; method(): string }): void => {
    const isDecision = request.url().includes('/v1/decisions') && request.method() === 'POST';
    if (isDecision) requests += 1;
  };
  const isPreloaded = series?.name === 'preloaded';
  if (isPreloaded) await page.evaluate(() => window.ads.preload('revive'));
  page.on('request', count);
  const milliseconds = await run();
  page.off('request', count);
  series?.milliseconds.push(milliseconds);
  series?.requests.push(requests);
}

function showAd(page: Page, isPreloaded: boolean): Promise<number> {
  return page.evaluate(async (preloaded) => {
    const stop = new AbortController();
    const started = new Promise<number>((resolve) => {
      const off = window.ads.on('start', () => {
        off();
        resolve(performance.now());
      });
    });
    const calledAtMs = performance.now();
    const showPromise = window.ads.showRewarded('revive', { signal: stop.signal });
    const startOrResult = await Promise.race([started, showPromise]);
    if (typeof startOrResult !== 'number')
      throw new Error(`No ad (preloaded: ${String(preloaded)}): ${startOrResult.outcome}`);
    stop.abort();
    await showPromise;
    return startOrResult - calledAtMs;
  }, isPreloaded);
}

/** Measures the lower bound for any ad: inserting a video element whose file is already loaded, and playing it. */
function playBare(page: Page): Promise<number> {
  return page.evaluate(async (source) => {
    const video = document.createElement('video');
    video.preload = 'auto';
    video.src = source;
    await new Promise((resolve) => video.addEventListener('canplaythrough', resolve));
    const startedAtMs = performance.now();
    document.body.append(video);
    const playing = new Promise((resolve) => video.addEventListener('playing', resolve));
    await video.play();
    await playing;
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const elapsedMs = performance.now() - startedAtMs;
    video.remove();
    return elapsedMs;
  }, `${stack.serviceUrl}/media/meadow.webm`);
}

async function report(series: Series[], version: string): Promise<void> {
  const baselineMs = median(series.at(-1)?.milliseconds ?? []);
  const format = (value: number | undefined, digits = 0): string => value?.toFixed(digits) ?? '–';
  const rows = series.map(({ name, milliseconds, requests }) =>
    [
      name,
      format(median(milliseconds)),
      format(percentile(milliseconds, 0.95)),
      format(ratio(median(milliseconds), baselineMs), 1),
      format(Math.max(...requests)),
    ].join(' | '),
  );
  const table = [
    '| ad | median, ms | 95th percentile, ms | relative to the bare video | decision requests |',
    '|---|---|---|---|---|',
    ...rows.map((row) => `| ${row} |`),
  ].join('\n');
  console.log(`\n\n${table}\n`);
  const text = `# From the call to the first frame

\`npm run bench:first-paint\`, ${rounds} rounds on ${new Date().toISOString().slice(0, 10)}, Chromium ${version},
service on the same machine. A first frame is reported two animation frames after the video starts,
including for the bare video. The goal is 100 ms with a preloaded ad, and only one request before the media otherwise.

${table}
`;
  await mkdir(dirname(results), { recursive: true });
  await writeFile(results, text);
}
