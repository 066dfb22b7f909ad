import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);

/**
 * Returns the previous release's commit. This is the last tag before the current commit or, if there is no tag, the
 * commit in the file `previous-release`.
 */
export function findPreviousRevision(): string {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim();
  try {
    return git('rev-list', '-1', git('describe', '--tags', '--match', 'v*', '--abbrev=0', 'HEAD^'));
  } catch {
    const file = fileURLToPath(new URL('previous-release', import.meta.url));
    return git('rev-parse', `${readFileSync(file, 'utf8').trim()}^{commit}`);
  }
}

/**
 * Builds another revision of the service outside this working tree, with the dependencies from that revision's
 * lockfile. Reuses an existing build. Returns the path to `main.js`.
 */
export async function buildPrevious(revision = findPreviousRevision()): Promise<string> {
  const folder = join(tmpdir(), `trueward-${revision}`);
  const main = join(folder, 'service', 'dist', 'main.js');
  if (existsSync(main)) return main;
  const buildFolder = `${folder}.${process.pid}`;
  mkdirSync(buildFolder);
  try {
    const archive = join(buildFolder, 'source.tar');
    await run('git', ['archive', '--output', archive, revision], { cwd: root });
    const options = { cwd: buildFolder };
    await run('tar', ['-xf', archive], options);
    await run(
      'npm',
      ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'],
      options,
    );
    await run(
      process.execPath,
      [join('node_modules', 'vite', 'bin', 'vite.js'), 'build', 'service'],
      options,
    );
    // A concurrent run may have created the same build first.
    if (!existsSync(folder)) renameSync(buildFolder, folder);
  } finally {
    rmSync(buildFolder, { recursive: true, force: true });
  }
  return main;
}
