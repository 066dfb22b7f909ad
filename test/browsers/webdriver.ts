import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import getPort from 'get-port';
import type { Press } from './presses.ts';

/** A browser controlled through WebDriver: https://www.w3.org/TR/webdriver2/. */
export interface WebDriverBrowser {
  name: string;
  open(url: string): Promise<void>;
  /** Clicks the primary mouse button at these window coordinates, in CSS pixels. */
  click(x: number, y: number): Promise<void>;
  keys(presses: Press[]): Promise<void>;
  close(): Promise<void>;
}

export interface WebDriverOptions {
  /** The driver and its arguments, without the port. */
  command: [string, ...string[]];
  /** Size of the window including browser chrome, in CSS pixels. */
  window: { width: number; height: number };
  capabilities: object;
}

/** The characters that represent non-text keys in WebDriver. */
const keyCharacters: Record<string, string> = {
  Shift: '\uE008',
  Tab: '\uE004',
  Enter: '\uE007',
  Escape: '\uE00C',
  ArrowLeft: '\uE012',
  ArrowUp: '\uE013',
  ArrowRight: '\uE014',
  ArrowDown: '\uE015',
};

/** How long to wait for a driver to start listening, in milliseconds. */
const timeoutMs = 20_000;

/** Starts a driver, which then starts a browser. */
export async function startWebDriver(options: WebDriverOptions): Promise<WebDriverBrowser> {
  const [program, ...args] = options.command;
  const port = await getPort({ host: '127.0.0.1' });
  const driver = spawn(program, [...args, `--port=${port}`], {
    stdio: 'ignore',
    // The driver starts a display and a browser. Puts all of them in a new process group, so that one signal can stop
    // them.
    detached: true,
  });
  const kill = () => void process.kill(-(driver.pid ?? 0), 'SIGTERM');
  process.once('exit', kill);
  driver.once('exit', () => process.off('exit', kill));
  const base = `http://127.0.0.1:${port}`;
  try {
    await waitUntilListening(driver, base);
    const { capabilities, sessionId } = await sendCommand<NewSession>(`${base}/session`, {
      capabilities: { alwaysMatch: options.capabilities },
    });
    const session = `${base}/session/${sessionId}`;
    await sendCommand(`${session}/window/rect`, options.window);
    const performActions = (source: object) =>
      sendCommand(`${session}/actions`, { actions: [source] });
    return {
      name: `${capabilities.browserName} ${capabilities.browserVersion}`,
      async open(url) {
        await sendCommand(`${session}/url`, { url });
      },
      async click(x, y) {
        await performActions({
          type: 'pointer',
          id: 'mouse',
          parameters: { pointerType: 'mouse' },
          actions: [
            { type: 'pointerMove', duration: 0, x: Math.round(x), y: Math.round(y) },
            { type: 'pointerDown', button: 0 },
            { type: 'pointerUp', button: 0 },
          ],
        });
      },
      async keys(presses) {
        const actions = presses.map(({ type, key }) => ({
          type,
          value: keyCharacters[key] ?? key,
        }));
        await performActions({ type: 'key', id: 'keyboard', actions });
      },
      async close() {
        await fetch(session, { method: 'DELETE' }).catch(() => undefined);
        await stopDriver(driver);
      },
    };
  } catch (error) {
    await stopDriver(driver);
    throw error;
  }
}

interface NewSession {
  sessionId: string;
  capabilities: { browserName: string; browserVersion: string };
}

async function waitUntilListening(driver: ChildProcess, base: string): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  while (performance.now() < deadlineMs && driver.exitCode === null) {
    const status = await fetch(`${base}/status`).catch(() => undefined);
    if (status?.ok) return;
    await delay(100);
  }
  throw new Error(`${driver.spawnfile} did not start listening at ${base}.`);
}

async function sendCommand<T>(url: string, body: object): Promise<T> {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  const { value } = (await response.json()) as { value: T & { message?: string } };
  if (!response.ok) throw new Error(`${url}: ${value.message}`);
  return value;
}

async function stopDriver(driver: ChildProcess): Promise<void> {
  if (driver.exitCode !== null || driver.pid === undefined) return;
  const exited = once(driver, 'exit');
  process.kill(-driver.pid, 'SIGTERM');
  await exited;
}
