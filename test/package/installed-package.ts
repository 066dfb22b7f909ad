import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

export interface InstalledPackage {
  /** The project that has the package; nothing of this repository is above it. */
  project: string;
  /** What the package holds, by paths relative to it. */
  files: string[];
  manifest: { exports: Record<string, string | Record<string, string>> };
  /** Runs a module in that project and gives what it printed. */
  runModule(code: string): string;
  remove(): void;
}

/**
 * Packs what would be published and lays it into an empty project as npm would. Its dependencies are
 * linked from here, so that no registry is needed.
 */
export function installPackage(): InstalledPackage {
  if (!existsSync(join(root, 'dist', 'index.js'))) throw new Error('Run `npm run build` first.');
  const project = mkdtempSync(join(tmpdir(), 'trueward-package-'));
  const target = join(project, 'node_modules', 'trueward');
  const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', project], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const { filename, files } = packedFile(JSON.parse(packed));
  mkdirSync(target, { recursive: true });
  execFileSync('tar', ['-xzf', join(project, filename), '-C', target, '--strip-components=1']);
  const manifest = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8'));
  for (const name of Object.keys(manifest.dependencies)) {
    const link = join(project, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), link, 'junction');
  }
  writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }');
  return {
    project,
    files: files.map(({ path }) => path),
    manifest,
    runModule: (code) =>
      execFileSync(process.execPath, ['--input-type=module', '--eval', code], {
        cwd: project,
        encoding: 'utf8',
      }),
    remove: () => rmSync(project, { recursive: true }),
  };
}

interface Packed {
  filename: string;
  files: { path: string }[];
}

/** npm prints a list, newer ones an object by package name. */
function packedFile(output: Packed[] | Record<string, Packed>): Packed {
  const [packed] = Object.values(output);
  if (packed === undefined) throw new Error('npm pack made no package.');
  return packed;
}
