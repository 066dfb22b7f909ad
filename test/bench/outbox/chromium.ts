import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium, type BrowserContext } from 'playwright';

/** A Chromium that Playwright controls but did not start, so that the benchmark can kill it by its pid. */
export interface Browser {
  context: BrowserContext;
  version: string;
  /** Kills all of the browser's processes at once, as in a crash or on a phone that runs out of memory. */
  kill(): Promise<void>;
}

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-breakpad',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-dev-shm-usage',
  '--disable-sync',
  '--no-first-run',
  '--remote-debugging-port=0',
  '--window-size=800,600',
];

const startTimeoutMs = 30_000;

/** The running browsers and their profile folders, which `cleanUp()` removes. */
const children = new Set<ChildProcess>();
const folders = new Set<string>();
let hasEnded = false;

/** Creates a profile folder; `removeProfile()` removes it. */
export async function createProfile(): Promise<string> {
  if (hasEnded) throw new Error('The run has ended.');
  const folder = await mkdtemp(join(tmpdir(), 'bench-outbox-'));
  folders.add(folder);
  return folder;
}

export async function removeProfile(folder: string): Promise<void> {
  folders.delete(folder);
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Kills all browsers and removes their profiles. Must be called regardless of how the program ends. */
export async function cleanUp(): Promise<void> {
  hasEnded = true;
  for (const child of children) await killGroup(child);
  for (const folder of folders) await removeProfile(folder);
}

/** Starts Chromium with the profile in this folder. A second call with the same folder restarts the browser. */
export async function launch(profile: string): Promise<Browser> {
  const executable = process.env['CHROMIUM_PATH'];
  if (executable === undefined)
    throw new Error('CHROMIUM_PATH is not set; start this with `npm run bench:outbox`.');
  const portFile = join(profile, 'DevToolsActivePort');
  await rm(portFile, { force: true });
  // Removes a killed browser's lock files. They would make the next browser assume that the killed one is still running.
  for (const name of ['SingletonLock', 'SingletonSocket', 'SingletonCookie'])
    await rm(join(profile, name), { force: true });
  const child = spawn(executable, [...flags, `--user-data-dir=${profile}`, 'about:blank'], {
    // Starts a new process group, so that one signal reaches all of the browser's processes.
    detached: true,
    stdio: 'ignore',
  });
  children.add(child);
  const browser = await chromium.connectOverCDP(await waitForEndpoint(portFile, child));
  const [context] = browser.contexts();
  if (context === undefined) throw new Error('Chromium started without a browser context.');
  return {
    context,
    version: browser.version(),
    async kill() {
      await killGroup(child);
      await browser.close();
    },
  };
}

/** Waits until the browser has written its debugging port. */
async function waitForEndpoint(file: string, child: ChildProcess): Promise<string> {
  for (const endAt = Date.now() + startTimeoutMs; Date.now() < endAt; await sleep(20)) {
    if (child.exitCode !== null) throw new Error(`Chromium exited with code ${child.exitCode}.`);
    const text = await readFile(file, 'utf8').catch(() => '');
    const [port, path] = text.trim().split('\n');
    if (port !== undefined && path !== undefined) return `ws://127.0.0.1:${port}${path}`;
  }
  throw new Error(`Chromium did not start within ${startTimeoutMs / 1000} s.`);
}

/**
 * How long to keep signaling a killed group, in milliseconds. Zombies belong to their process group until init reaps them.
 */
const reapDelayMs = 150;

async function killGroup(child: ChildProcess): Promise<void> {
  const isRunning = child.exitCode === null && child.signalCode === null;
  const exit = isRunning ? once(child, 'exit') : undefined;
  if (child.pid !== undefined && killAll(child.pid)) {
    await exit;
    for (const endAt = Date.now() + reapDelayMs; Date.now() < endAt && killAll(child.pid);)
      await sleep(10);
  }
  children.delete(child);
}

/** Kills all processes in the group. Returns false if none are left. */
function killAll(group: number): boolean {
  try {
    return process.kill(-group, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}
