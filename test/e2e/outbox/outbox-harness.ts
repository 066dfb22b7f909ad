import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Browser, BrowserContext, Page } from 'playwright';
import { expect, vi } from 'vitest';
import { type KillableBrowser, openKillableBrowser } from './killable-browser.ts';
import type { PageOptions } from './page.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/** Retries `assertion` until it succeeds. The timeout is long enough for a busy machine. */
export const waitFor = <T>(assertion: () => T | Promise<T>): Promise<T> =>
  // Longer than a tab waits for the lock of a suspended tab.
  vi.waitFor(assertion, { timeout: 40_000, interval: 20 });

/** A receiver and a browser for the tests in one file. */
export interface OutboxHarness {
  receiver: Receiver;
  /** Opens a context with its own storage in the shared browser. */
  newContext(): Promise<BrowserContext>;
  /** Starts a separate browser with the named profile. The profile outlives the browser. */
  openBrowser(profile: string): Promise<KillableBrowser>;
  /** Returns the named profile's folder. */
  profile(name: string): string;
  open(context: BrowserContext, options?: PageOptions): Promise<Page>;
  /** Resolves when every stored event has arrived and the queue is empty. */
  expectAllArrived(page: Page): Promise<void>;
  close(): Promise<void>;
}

async function bundlePage(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('page.ts', import.meta.url))],
    bundle: true,
    format: 'iife',
    target: 'es2022',
    write: false,
    logLevel: 'error',
  });
  return outputFiles[0]?.text ?? '';
}

/** @param sharedBrowser - the browser in which the contexts are opened. */
export async function startHarness(sharedBrowser: Browser): Promise<OutboxHarness> {
  const folder = await mkdtemp(join(tmpdir(), 'trueward-outbox-'));
  const receiver = await startReceiver(await bundlePage());
  return {
    receiver,
    newContext: () => sharedBrowser.newContext(),
    openBrowser: (profile) => openKillableBrowser(join(folder, profile)),
    profile: (name) => join(folder, name),
    async open(context, options = {}) {
      const page = await context.newPage();
      await page.goto(`${receiver.url}/?${encodeURIComponent(JSON.stringify(options))}`);
      return page;
    },
    async expectAllArrived(page) {
      const pageIds = await page.evaluate(() => window.game.resolved);
      await waitFor(() => {
        const storedIds = [...receiver.resolved, ...pageIds];
        expect(storedIds.filter((id) => !receiver.arrivals.has(id))).toEqual([]);
      });
      await waitFor(async () => {
        const remaining = await page.evaluate(async () => ({
          records: await window.game.countRecords(),
          stored: window.game.diagnostics().stored,
          timers: window.game.timers(),
        }));
        expect(remaining).toEqual({ records: 0, stored: 0, timers: 0 });
      });
    },
    async close() {
      await receiver.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
