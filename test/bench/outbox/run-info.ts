import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { launch } from './chromium.ts';
import type { ContenderInfo } from './contenders.ts';
import { withProfile } from './measure/setting.ts';

/** The machine that a run used, and the versions that it measured. */
export interface RunInfo {
  date: string;
  machine: string;
  system: string;
  node: string;
  chromium: string;
  /** The last commit that changed the outbox's sources. */
  outbox: string;
  /** The version of each contender's package. */
  versions: Record<string, string>;
}

const root = join(import.meta.dirname, '..', '..', '..');

/** Describes the machine, and reads the browser's and the packages' versions. */
export async function describeRun(selectedContenders: ContenderInfo[]): Promise<RunInfo> {
  const [cpu] = cpus();
  return {
    date: new Date().toISOString(),
    machine: `${cpus().length} × ${cpu?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    system: `${type()} ${release()}`,
    node: process.version,
    chromium: await readChromiumVersion(),
    outbox: readOutboxVersion(),
    versions: Object.fromEntries(
      selectedContenders.flatMap((facts) =>
        facts.package ? [[facts.name, readVersion(facts.package)]] : [],
      ),
    ),
  };
}

const readChromiumVersion = (): Promise<string> =>
  withProfile(async (profile) => {
    const browser = await launch(profile);
    await browser.kill();
    return browser.version;
  });

function readOutboxVersion(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim();
  const sources = ['--', 'src/outbox', 'src/platform', 'src/transport'];
  try {
    const suffix =
      git('status', '--porcelain', ...sources) === '' ? '' : ', with uncommitted changes';
    return git('log', '-1', '--format=%h of %cs', ...sources) + suffix;
  } catch {
    // This is not a Git checkout, or Git is not installed.
    return 'unknown';
  }
}

/**
 * Reads an installed package's version. idb-keyval is one of the project's dependencies. The other packages are installed
 * in this folder.
 */
function readVersion(name: string): string {
  for (const folder of [import.meta.dirname, root]) {
    try {
      const manifest = join(folder, 'node_modules', name, 'package.json');
      return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
    } catch {
      // The package may be in the other folder.
      continue;
    }
  }
  throw new Error(`${name} is not installed.`);
}
