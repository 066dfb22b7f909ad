import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

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
    cpSync(join(root, file), join(folder, file), { preserveTimestamps: true });
  }
  for (const name of builtFolders)
    if (existsSync(join(root, name)))
      cpSync(join(root, name), join(folder, name), { recursive: true, preserveTimestamps: true });
  for (const name of packageFolders) {
    if (!existsSync(join(root, name))) continue;
    symlinkSync(join(root, name), join(folder, name), 'junction');
  }
}
