import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The repository's root: the working directory of every command. */
export const root = join(import.meta.dirname, '..', '..');

/**
 * Runs a command and returns its exit code, output and duration. execa can't be used, because `npm start` and `npm test`
 * call this function before any package is installed.
 *
 * @param {readonly string[]} command
 * @param {{ env?: Record<string, string>, show?: boolean, signal?: AbortSignal }} [options] `show`: prints the output
 * immediately instead of returning it. `signal`: kills the command when aborted.
 * @returns {Promise<{ code: number, output: string, ms: number }>}
 */
export function run(command, { env = {}, show = false, signal } = {}) {
  const [program, ...args] = command[0] === 'npm' ? npmCommand(command.slice(1)) : command;
  if (program === undefined) throw new Error('Expected a command, got an empty list.');
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: root,
      env: { ...process.env, ...env },
      ...(signal === undefined ? {} : { signal }),
      stdio: show ? 'inherit' : ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
    let output = '';
    const finish = (/** @type {number | null} */ code, note = '') =>
      resolve({ code: code ?? 1, output: output + note, ms: performance.now() - startedAt });
    child.stdout?.on('data', (chunk) => (output += chunk));
    child.stderr?.on('data', (chunk) => (output += chunk));
    child.once('error', (error) => finish(1, `${program}: ${error.message}\n`));
    child.once('close', (code) => finish(code));
  });
}

/**
 * Returns the command that runs npm. On Windows, `npm` is a batch file, which only a shell can run, and shells split
 * paths at spaces; so npm's own program is run with this Node.
 *
 * @param {readonly string[]} args
 * @returns {string[]}
 */
export function npmCommand(args) {
  if (process.platform !== 'win32') return ['npm', ...args];
  const besideNode = join(dirname(process.execPath), 'node_modules', 'npm', 'bin', 'npm-cli.js');
  return [process.execPath, process.env.npm_execpath ?? besideNode, ...args];
}

/**
 * Returns the command that runs an installed package with the current Node.js binary. npx would take half a second
 * longer.
 *
 * @param {string} packageName
 * @param {string} [binName] Default: the last segment of the package name.
 * @returns {string[]}
 */
export function tool(packageName, binName = packageName.split('/').at(-1) ?? packageName) {
  const manifest = join(root, 'node_modules', packageName, 'package.json');
  const { bin } = createRequire(import.meta.url)(manifest);
  return [process.execPath, join(dirname(manifest), typeof bin === 'string' ? bin : bin[binName])];
}

/**
 * Builds the parts whose output is missing or older than their sources.
 *
 * @param {{ signal?: AbortSignal }} [options]
 * @throws when the build fails.
 */
export async function buildStale(options) {
  const command = [process.execPath, 'scripts/build.mjs', '--stale'];
  const { code } = await run(command, { ...options, show: true });
  if (code !== 0) throw new Error('The build failed; see the output above.');
}

/** @param {number} ms */
export const formatDuration = (ms) => `${(ms / 1000).toFixed(1)} s`;
