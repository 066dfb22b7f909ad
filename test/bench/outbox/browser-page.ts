import type { CDPSession, Page } from 'playwright';
import type { Browser } from './chromium.ts';
import type { Bench } from './page/bench.ts';

/** A page that runs one contender. */
export interface BenchPage {
  /** Calls a function in `page/bench.ts`. Rejects if the page does not respond within `timeoutMs`. */
  call<Name extends keyof Bench>(
    name: Name,
    arguments_: Parameters<Bench[Name]>,
    timeoutMs?: number,
  ): Promise<Awaited<ReturnType<Bench[Name]>>>;
  setOffline(offline: boolean): Promise<void>;
  /** Returns the main thread's CPU time since the page started, in milliseconds. */
  busyMs(): Promise<number>;
  /** Subscribes to the page's reports. They are not acknowledged, because acknowledgments would slow down the page. */
  onReport(listener: (report: string) => void): Promise<void>;
}

/** Opens the page and starts the contender, if there is one. */
export async function openPage(
  browser: Browser,
  origin: string,
  run: string,
  contender?: string,
): Promise<BenchPage> {
  const page = await browser.context.newPage();
  const session = await browser.context.newCDPSession(page);
  // Measures thread CPU time, because wall time is affected by other load on the machine.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const query = new URLSearchParams({ run, ...(contender === undefined ? {} : { contender }) });
  await page.goto(`${origin}/?${query}`, { waitUntil: 'load' });
  const bench = wrap(page, session);
  await bench.call('start', [], 20_000);
  return bench;
}

function wrap(page: Page, session: CDPSession): BenchPage {
  return {
    async call(name, arguments_, timeoutMs = 30_000) {
      const response = page.evaluate(
        ([method, values]) => {
          const bench = Reflect.get(window, 'outboxBench') as Bench;
          return Reflect.apply(bench[method], bench, values);
        },
        [name, arguments_] as const,
      );
      return withTimeout(response, timeoutMs, `\`${name}\` in the page`);
    },
    setOffline: (offline) => page.context().setOffline(offline),
    async busyMs() {
      const { metrics } = await withTimeout(
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

/** Rejects if `work` takes longer than `ms`, because a frozen page never responds. */
async function withTimeout<T>(work: Promise<T>, ms: number, description: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${description} took longer than ${ms / 1000} s`)),
      ms,
    );
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
    // The browser may be killed before it responds, so this failure is ignored.
    work.catch(() => undefined);
  }
}
