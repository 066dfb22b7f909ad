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
import { copyFolder } from '../../scripts/lib/copy-folder.mjs';

const root = join(import.meta.dirname, '..', '..');
const modules = join(root, 'node_modules');

export interface InstalledPackage {
  /** The folder of the project that the package is installed in. It is outside this repository. */
  project: string;
  /** Files in the package, as relative paths. */
  files: string[];
  manifest: { exports: Record<string, string | Record<string, string>> };
  /** Runs a module in the project and returns its output. */
  runModule(code: string): string;
  /** Runs a command-line tool from this repository's `node_modules`, with the project as the working directory. */
  runTool(script: string, ...args: string[]): string;
  remove(): void;
}

interface InstallOptions {
  /** Packages from this repository's `node_modules` that the project uses too. */
  linkedPackages?: string[];
  /** Workspaces of this repository to pack and install too. */
  packedWorkspaces?: string[];
}

/**
 * Packs the files that would be published, and installs them in an empty project with npm. The dependencies and the
 * `linkedPackages` come from this repository, so npm needs no registry.
 */
export function installPackage({
  linkedPackages = [],
  packedWorkspaces = [],
}: InstallOptions = {}): InstalledPackage {
  if (!existsSync(join(root, 'dist', 'index.js'))) throw new Error('Run `npm run build` first.');
  const project = mkdtempSync(join(tmpdir(), 'trueward-package-'));
  const run = (program: string, args: string[], cwd = project): string =>
    execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const pack = (folder: string): PackResult =>
    readPackResult(
      JSON.parse(run('npm', ['pack', folder, '--json', '--pack-destination', project], root)),
    );
  const { filename, files } = pack('.');
  const dependencies = {
    trueward: `file:${filename}`,
    eventemitter3: `file:${join(modules, 'eventemitter3')}`,
    'idb-keyval': `file:${join(modules, 'idb-keyval')}`,
    ...Object.fromEntries(
      packedWorkspaces.map((name) => [name, `file:${pack(`./${name}`).filename}`]),
    ),
  };
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ type: 'module', private: true, dependencies }),
  );
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts']);
  for (const name of linkedPackages) {
    const link = join(project, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(modules, name), link, 'junction');
  }
  copyFolder(join(import.meta.dirname, 'fixtures'), project);
  const manifestFile = join(project, 'node_modules', 'trueward', 'package.json');
  return {
    project,
    files: files.map(({ path }) => path),
    manifest: JSON.parse(readFileSync(manifestFile, 'utf8')),
    runModule: (code) => run(process.execPath, ['--input-type=module', '--eval', code]),
    runTool: (script, ...args) => run(process.execPath, [join(modules, script), ...args]),
    remove: () => rmSync(project, { recursive: true }),
  };
}

interface PackResult {
  filename: string;
  files: { path: string }[];
}

/**
 * Reads the result for the single packed package from npm's output. The output is a list or, in newer versions of npm,
 * an object keyed by package name.
 */
function readPackResult(output: PackResult[] | Record<string, PackResult>): PackResult {
  const [result] = Object.values(output);
  if (result === undefined) throw new Error('npm pack did not create a package.');
  return result;
}
