import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);

/**
 * Returns the commit of the previous release. This is the last tag before the current commit. Without a tag, it is the
 * commit in the file `previous-release`.
 */
export function previousRevision(): string {
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
 * Builds another revision of the service outside this working tree, with the packages in its lockfile. Reuses an
 * existing build. Returns the path of `main.js`.
 */
export async function buildPrevious(revision = previousRevision()): Promise<string> {
  const folder = join(tmpdir(), `trueward-${revision}`);
  const main = join(folder, 'service', 'dist', 'main.js');
  if (existsSync(main)) return main;
  const draft = `${folder}.${process.pid}`;
  mkdirSync(draft);
  try {
    const archive = join(draft, 'source.tar');
    await run('git', ['archive', '--output', archive, revision], { cwd: root });
    const options = { cwd: draft };
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
    // A concurrent run may have created the same build.
    if (!existsSync(folder)) renameSync(draft, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return main;
}
