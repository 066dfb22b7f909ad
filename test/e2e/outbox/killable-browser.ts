import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Browser, chromium } from 'playwright';
import { chromiumPath } from '../browser.ts';

/** A browser in separate processes that a test can kill to simulate a crash. */
export interface KillableBrowser {
  browser: Browser;
  /** Sends SIGKILL to all of the browser's processes. Resolves when the browser has exited. */
  kill(): Promise<void>;
}

export const chromiumArguments = [
  '--headless=new',
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts a browser with the profile in this folder. Browsers started with the same folder share their storage. */
export async function openKillableBrowser(profile: string): Promise<KillableBrowser> {
  const child = spawn(
    chromiumPath,
    [
      ...chromiumArguments,
      '--remote-debugging-port=0',
      `--user-data-dir=${profile}`,
      'about:blank',
    ],
    // Starts a new process group, so that one signal kills all of the browser's processes.
    { detached: true, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const exited = once(child, 'exit');
  const endpointUrl = await new Promise<string>((resolve, reject) => {
    const lines = createInterface({ input: child.stderr });
    lines.on('line', (line) => {
      const endpoint = /DevTools listening on (ws:\S+)/.exec(line)?.[1];
      if (endpoint) resolve(endpoint);
    });
    void exited.then(() => reject(new Error('The browser exited before it was ready.')));
  });
  const browser = await chromium.connectOverCDP(endpointUrl);
  return {
    browser,
    async kill() {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
        process.kill(-child.pid, 'SIGKILL');
      await exited;
      await browser.close();
    },
  };
}
