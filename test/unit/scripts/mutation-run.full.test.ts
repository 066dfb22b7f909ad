import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const core = 'service/src/platform/closest-name.ts';

test('a run tests mutants of one file with one test, and prints and returns the score', () => {
  const source = readFileSync(join(root, core), 'utf8');
  const run = (minimum: number) => {
    const tests = 'service/test/unit/closest-name.test.ts';
    const args = `--files ${core} --tests ${tests} --sample 6 --seed 2 --minimum ${minimum}`;
    return spawnSync(process.execPath, ['scripts/mutation.mjs', ...args.split(' ')], {
      cwd: root,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
    });
  };
  const { status, stdout } = run(1);
  expect(stdout).toMatch(/1 files, \d+ mutants, .* Testing 6 \(seed 2\)\./);
  const results = [...stdout.matchAll(/^\d\/6 {2}(noticed|survived) +(\S+):\d+ {2}/gm)];
  expect(results.map(([, , file]) => file)).toEqual(Array(6).fill(core));
  const noticed = results.filter(([, outcome]) => outcome === 'noticed').length;
  expect(noticed).toBeGreaterThan(0);
  expect(stdout).toContain(`(${noticed} of 6 noticed, 0 skipped, 0 unjudged; minimum 1 %)`);
  expect(status).toBe(0);
  expect(run(101).status).toBe(1);
  expect(readFileSync(join(root, core), 'utf8')).toBe(source);
}, 300_000);
