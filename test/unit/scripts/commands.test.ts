import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { tool } from '../../../scripts/lib/run.mjs';

const root = join(import.meta.dirname, '..', '..', '..');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

/** Commands that are only other people's programs, and those that pass what they don't know to one. */
const foreign: Record<string, string> = { lint: 'oxlint', format: 'prettier' };
const passing: Record<string, string> = {
  test: 'Vitest',
  'test:full': 'Vitest',
  'test:browsers': 'Vitest',
};

interface Program {
  name: string;
  program: string;
  args: string[];
}

/** Our programs that a command runs. The build before most of them is a command of its own. */
const programs: Program[] = Object.entries(scripts).flatMap(([name, script]) =>
  script
    .split(' && ')
    .filter((step) => step !== 'node scripts/build.mjs --stale')
    .map((step) => step.split(' '))
    .filter(([program = '']) => ['node', 'tsx'].includes(program))
    .map(([program = '', ...args]) => ({ name, program, args })),
);
// `bench.mjs` loads tsx, which takes a second.
const isFast = ({ program, args }: Program) =>
  program === 'node' && args[0] !== 'scripts/bench.mjs';
const selected = programs.filter((program) => inject('full') || isFast(program));

async function run(
  { program, args }: Program,
  { signal }: { signal: AbortSignal },
  ...more: string[]
) {
  const start = program === 'node' ? [process.execPath] : tool('tsx');
  const [file = '', ...all] = [...start, ...args, ...more];
  const child = spawn(file, all, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], signal });
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { out, err, code };
}

/** When each of the project's files was written: a command may write what a file has already. */
const readTimes = () =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
    .trim()
    .split('\n')
    .map((file) => `${file} ${statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs}`);

let before: string[];
beforeAll(() => (before = readTimes()));
afterAll(() => expect(readTimes()).toEqual(before));

test('every command runs a program of ours, or only that of others', () => {
  const own = new Set(programs.map(({ name }) => name));
  expect(Object.keys(scripts).filter((name) => !own.has(name))).toEqual(Object.keys(foreign));
});

describe.concurrent('every command', () => {
  test.for(selected)('npm run $name ($args): --help', async (program, context) => {
    const { out, err, code } = await run(program, context, '--help');
    expect(err).toBe('');
    expect(out.split('\n')[0]).toMatch(new RegExp(`npm (run )?${program.name}($|[ ,])`));
    expect(code).toBe(0);
  });

  test.for(selected.filter(({ name }) => !(name in passing)))(
    'npm run $name ($args) refuses an unknown option',
    async (program, context) => {
      const { out, err, code } = await run(program, context, '--no-such-option');
      expect(out).toBe('');
      expect(err).toMatch(/^Got the option --no-such-option, expected (--.*, )?--help\.\n\nnpm /);
      expect(err).not.toMatch(/^\s+at /m);
      expect(code).toBe(1);
    },
  );

  test.for<[name: string, args: string[], message: string]>([
    ['test:timing', ['--count', 'x'], '--count: got "x", expected a whole number of at least 1.'],
    ['capacity', ['--busy=0'], '--busy: got "0", expected a number above 0.'],
    ['check', ['lint', 'typos'], '<check>…: got "typos", expected one of types, lint,'],
    ['build', ['service'], 'Got the argument "service", expected none.'],
  ])('npm run %s -- %j is refused', async ([name, args, message], context) => {
    const [program] = programs.filter((one) => one.name === name);
    const { out, err, code } = await run(
      program ?? { name, program: '', args: [] },
      context,
      ...args,
    );
    expect(out).toBe('');
    expect(err.split('\n')[0]).toContain(message);
    expect(code).toBe(1);
  });
});
