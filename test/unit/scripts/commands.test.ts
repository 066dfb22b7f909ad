import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { root, tool } from '../../../scripts/lib/run.mjs';

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
/** Commands that run only other people's programs. */
const foreign = ['lint', 'format'];
/** Commands that pass on to Vitest what they don't know. */
const passing = ['test', 'test:full', 'test:browsers'];

interface Program {
  name: string;
  program: string;
  args: string[];
}

/** Our programs that a command runs. The build before many of them is a command itself. */
const programs: Program[] = Object.entries(scripts).flatMap(([name, script]) =>
  script
    .split(' && ')
    .filter((step) => step !== 'node scripts/build.mjs --stale')
    .map((step) => step.split(' '))
    .filter(([program = '']) => ['node', 'tsx'].includes(program))
    .map(([program = '', ...args]) => ({ name, program, args })),
);
/** tsx takes a second. `bench.mjs` loads it too. */
const isFast = ({ program, args }: Program) =>
  program === 'node' && args[0] !== 'scripts/bench.mjs';
const selected = programs.filter((program) => inject('full') || isFast(program));

/** A copy of the working tree, so that a command that runs by mistake does no harm. */
let copy: string;
let before: string[];
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'trueward-commands-'));
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', list, { cwd: root, encoding: 'utf8' }).split('\0');
  for (const file of files.filter((name) => name !== '' && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    copyFileSync(join(root, file), join(copy, file));
    const modules = join(dirname(file), 'node_modules');
    if (file.endsWith('package.json') && existsSync(join(root, modules)))
      symlinkSync(join(root, modules), join(copy, modules));
  }
  // What is installed counts as complete, because `npm ci` would write to the linked folders.
  copyFileSync(join(root, 'node_modules/.package-lock.json'), join(copy, 'package-lock.json'));
  before = readTimes();
});
afterAll(() => {
  const after = readTimes();
  rmSync(copy, { recursive: true });
  expect(after).toEqual(before);
});

/** Returns each file with the time at which it was written: a command may write what is already there. */
function readTimes(folder = copy): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? readTimes(path) : `${path} ${statSync(path).mtimeMs}`;
  });
}

async function run(program: Program, { signal }: { signal: AbortSignal }, ...more: string[]) {
  const start = program.program === 'node' ? [process.execPath] : tool('tsx');
  const [file = '', ...args] = [...start, ...program.args, ...more];
  const child = spawn(file, args, { cwd: copy, stdio: ['ignore', 'pipe', 'pipe'], signal });
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { out, err, code };
}

test('every command runs a program of ours, or only those of others', () => {
  const own = new Set(programs.map(({ name }) => name));
  expect(Object.keys(scripts).filter((name) => !own.has(name))).toEqual(foreign);
});

describe.concurrent('every command', () => {
  test.for(selected)('npm run $name ($args) has --help', async (program, context) => {
    const { out, err, code } = await run(program, context, '--help');
    expect(err).toBe('');
    expect(out.split('\n')[0]).toMatch(new RegExp(`npm (run )?${program.name}($|[ ,])`));
    expect(code).toBe(0);
    // A line that is too long breaks, and its rest loses its place in a list.
    expect(out).not.toMatch(/^ .*\n\S/m);
  });

  test.for(selected.filter(({ name }) => !passing.includes(name)))(
    'npm run $name ($args) refuses an unknown option',
    async (program, context) => {
      const { out, err, code } = await run(program, context, '--no-such-option');
      expect(out).toBe('');
      expect(err).toMatch(/^error: unknown option '--no-such-option'\n\nUsage: npm .*--help /s);
      expect(err).not.toMatch(/^\s+at /m);
      expect(code).toBe(1);
    },
  );

  const refused: [name: string, args: string[], message: string][] = [
    ['build', ['service'], 'too many arguments. Expected 0 arguments but got 1.'],
    [
      'check',
      ['typos'],
      "'typos' is invalid for argument 'check'. Allowed choices are types, lint,",
    ],
    ['test:timing', ['--count', 'x'], "'x' is invalid. Expected a whole number of at least 1."],
    ['capacity', ['--busy=0'], "'--busy <n>' argument '0' is invalid. Expected a number above 0."],
    ['fuzz:service', ['0'], "'0' is invalid for argument 'requests'. Expected a whole number of"],
    [
      'kills:demand',
      ['--impressions=1'],
      "'1' is invalid. Expected a whole number of at least 10.",
    ],
    [
      'bench:hostile',
      ['nothing'],
      "invalid for argument 'part'. Allowed choices are bodies, changes,",
    ],
    ['bench:outbox', ['--only', 'x'], "argument 'x' is invalid. Allowed choices are ours, "],
    ['bench:database', ['--quick'], '--url: got nothing, expected name=postgres://'],
  ];
  test.for(
    selected.flatMap((program) =>
      refused.flatMap(([name, args, message]) =>
        name === program.name ? [{ program, args, message }] : [],
      ),
    ),
  )('npm run $program.name -- $args is refused', async ({ program, args, message }, context) => {
    const { out, err, code } = await run(program, context, ...args);
    expect(out).toBe('');
    expect(err.split('\n')[0]).toContain(message);
    expect(code).toBe(1);
  });
});
