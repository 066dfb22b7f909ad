import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');

test('a clone with Git for Windows’ defaults has the same bytes as every other', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-clone-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 });
  // Git for Windows' installer sets these; `core.eol` is what its build chooses on Windows.
  const defaults = ['-c', 'core.autocrlf=true', '-c', 'core.eol=crlf'];
  git(root, ...defaults, 'clone', '--quiet', '--shared', '.', join(folder, 'Zoë’s clone'));
  const files = git(join(folder, 'Zoë’s clone'), 'ls-files', '--eol').split('\n').filter(Boolean);
  expect(files.length).toBeGreaterThan(1_000);
  // Each line has the line ends in the index and in the folder, such as `i/lf w/lf attr/text=auto eol=lf`.
  expect(files.filter((line) => !/^i\/(\S+)\s+w\/\1\s/.test(line))).toEqual([]);
  expect(files.filter((line) => /^i\/(crlf|mixed)/.test(line))).toEqual([]);
});
