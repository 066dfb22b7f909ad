import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { copyFolder } from '../../scripts/lib/copy-folder.mjs';

const root = join(import.meta.dirname, '..', '..');
const builtFolders = ['dist', 'service/dist', 'demo/dist', '.cache/api-reports'];
const packageFolders = ['node_modules', 'service/node_modules', 'demo/node_modules'];

/** Copies the repository and its build, and links its packages. Programs that build can't run in Wine. */
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
    copyFileSync(join(root, file), join(folder, file));
  }
  // After their sources, so that they aren't older.
  for (const name of builtFolders)
    if (existsSync(join(root, name))) copyFolder(join(root, name), join(folder, name));
  for (const name of packageFolders) {
    if (!existsSync(join(root, name))) continue;
    symlinkSync(join(root, name), join(folder, name), 'junction');
  }
}
