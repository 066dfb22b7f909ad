import type { CDPSession, Page } from 'playwright';
import type { Browser } from './chromium.ts';
import type { Bench } from './page/bench.ts';

/** A page with one contestant in it. */
export interface BenchPage {
  /** Calls a function of `page/bench.ts`; rejects when the page does not answer in `timeoutMs`. */
  call<Name extends keyof Bench>(
    name: Name,
    arguments_: Parameters<Bench[Name]>,
    timeoutMs?: number,
  ): Promise<Awaited<ReturnType<Bench[Name]>>>;
  setOffline(offline: boolean): Promise<void>;
  /** Time that the main thread was busy since the page began, in milliseconds of CPU. */
  busyMs(): Promise<number>;
  /** Hears what the page reports, without a way back that would slow it. */
  onReport(listener: (report: string) => void): Promise<void>;
}

/** Opens the page; `contestant` is started in it unless it is undefined. */
export async function openPage(
  browser: Browser,
  origin: string,
  run: string,
  contestant?: string,
): Promise<BenchPage> {
  const page = await browser.context.newPage();
  const session = await browser.context.newCDPSession(page);
  // Thread time instead of wall time: others use this machine too.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const query = new URLSearchParams({ run, ...(contestant === undefined ? {} : { contestant }) });
  await page.goto(`${origin}/?${query}`, { waitUntil: 'load' });
  const bench = wrap(page, session);
  await bench.call('start', [], 20_000);
  return bench;
}

function wrap(page: Page, session: CDPSession): BenchPage {
  return {
    async call(name, arguments_, timeoutMs = 30_000) {
      const answer = page.evaluate(
        ([method, values]) => {
          const bench = Reflect.get(window, 'outboxBench') as Bench;
          return Reflect.apply(bench[method], bench, values);
        },
        [name, arguments_] as const,
      );
      return inTime(answer, timeoutMs, `\`${name}\` in the page`);
    },
    setOffline: (offline) => page.context().setOffline(offline),
    async busyMs() {
      const { metrics } = await inTime(
        session.send('Performance.getMetrics'),
        30_000,
        'the browser’s metrics',
      );
      return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1_000;
    },
    async onReport(listener) {
      session.on('Runtime.bindingCalled', ({ payload }) => listener(payload));
      await session.send('Runtime.enable');
      await session.send('Runtime.addBinding', { name: 'report' });
    },
  };
}

/** Rejects when `work` takes longer; a page that is frozen never answers. */
async function inTime<T>(work: Promise<T>, ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    // The browser may be killed before it answers; then nobody waits for that any more.
    work.catch(() => undefined);
  }
}
