import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const builtFolders = ['dist', 'service/dist', 'demo/dist', '.cache/api-reports'];
const packageFolders = ['node_modules', 'service/node_modules', 'demo/node_modules'];

/** Copies the repository, its build and its packages. Programs that build can't run in Wine. */
export function copyRepository(folder: string): void {
  const files = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    },
  );
  for (const file of files.split('\0').filter((name) => name && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file), { preserveTimestamps: true });
  }
  for (const name of builtFolders)
    if (existsSync(join(root, name)))
      cpSync(join(root, name), join(folder, name), { recursive: true, preserveTimestamps: true });
  for (const name of packageFolders) {
    if (!existsSync(join(root, name))) continue;
    // Links instead of copies, where the system can: the packages take 1 GB.
    if (process.platform === 'linux')
      execFileSync('cp', ['-a', join(root, name), join(folder, name)]);
    else cpSync(join(root, name), join(folder, name), { recursive: true, verbatimSymlinks: true });
  }
}
