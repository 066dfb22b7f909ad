import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Browser, chromium } from 'playwright';

/** A browser in separate processes. A test can kill them to simulate a crash. */
export interface KillableBrowser {
  browser: Browser;
  /** Sends SIGKILL to all processes of the browser. Resolves when the processes have ended. */
  kill(): Promise<void>;
}

export const chromiumPath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';
export const chromiumArguments = [
  '--headless=new',
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts a browser with the profile in this folder. The next browser with the same folder has the same storage. */
export async function openKillableBrowser(profile: string): Promise<KillableBrowser> {
  const child = spawn(
    chromiumPath,
    [
      ...chromiumArguments,
      '--remote-debugging-port=0',
      `--user-data-dir=${profile}`,
      'about:blank',
    ],
    // In their own process group, all of the browser's processes can be killed with one signal.
    { detached: true, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const exited = once(child, 'exit');
  const address = await new Promise<string>((resolve, reject) => {
    const lines = createInterface({ input: child.stderr });
    lines.on('line', (line) => {
      const endpoint = /DevTools listening on (ws:\S+)/.exec(line)?.[1];
      if (endpoint) resolve(endpoint);
    });
    void exited.then(() => reject(new Error('The browser exited before it was ready.')));
  });
  const browser = await chromium.connectOverCDP(address);
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
