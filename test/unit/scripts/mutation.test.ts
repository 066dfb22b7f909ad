import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { namesAt, recordCalls } from '../../../scripts/lib/mutation/functions.mjs';
import { applyMutant, isLimit, mutateFile } from '../../../scripts/lib/mutation/mutate-code.mjs';

const flatten = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

/** Returns each mutant of a statement. */
const mutate = (sql: string): string[] => {
  const source = `run(\`${sql}\`)`;
  return mutateFile('file.ts', source)
    .filter(({ kind }) => kind === 'sql')
    .map((mutant) => flatten(applyMutant(source, mutant).slice(5, -2)));
};

test.each<[string, string[]]>([
  [
    'DELETE FROM keys WHERE a = $1 AND b = $2',
    [
      'DELETE FROM keys WHERE (a = $1 OR true) AND b = $2',
      'DELETE FROM keys WHERE a = $1 OR b = $2',
      'DELETE FROM keys WHERE a = $1 AND (b = $2 OR true)',
    ],
  ],
  [
    'UPDATE keys SET a = 1 WHERE b < ${limit} RETURNING id',
    [
      'UPDATE keys SET a = 1 WHERE (b < ${limit} OR true) RETURNING id',
      'UPDATE keys SET a = 1 WHERE b <= ${limit} RETURNING id',
    ],
  ],
  [
    'SELECT 1 FROM a WHERE (b IS NULL OR c) ORDER BY d DESC LIMIT $1 FOR UPDATE SKIP LOCKED',
    [
      'SELECT 1 FROM a WHERE ((b IS NULL OR c) OR true) ORDER BY d DESC LIMIT $1 FOR UPDATE SKIP LOCKED',
      'SELECT 1 FROM a WHERE (b IS NOT NULL OR c) ORDER BY d DESC LIMIT $1 FOR UPDATE SKIP LOCKED',
      'SELECT 1 FROM a WHERE (b IS NULL AND c) ORDER BY d DESC LIMIT $1 FOR UPDATE SKIP LOCKED',
      'SELECT 1 FROM a WHERE (b IS NULL OR c) LIMIT $1 FOR UPDATE SKIP LOCKED',
      'SELECT 1 FROM a WHERE (b IS NULL OR c) ORDER BY d LIMIT $1 FOR UPDATE SKIP LOCKED',
      'SELECT 1 FROM a WHERE (b IS NULL OR c) ORDER BY d DESC LIMIT $1 + 1000000 FOR UPDATE SKIP LOCKED',
      'SELECT 1 FROM a WHERE (b IS NULL OR c) ORDER BY d DESC LIMIT $1',
    ],
  ],
  [
    'SELECT 1 FROM a WHERE b BETWEEN $1 AND $2 AND c',
    [
      'SELECT 1 FROM a WHERE (b BETWEEN $1 AND $2 OR true) AND c',
      'SELECT 1 FROM a WHERE b BETWEEN $1 AND $2 OR c',
      'SELECT 1 FROM a WHERE b BETWEEN $1 AND $2 AND (c OR true)',
    ],
  ],
  [
    'INSERT INTO a VALUES (1) ON CONFLICT (b) DO UPDATE SET c = 1 RETURNING d',
    ['INSERT INTO a VALUES (1) RETURNING d'],
  ],
  ['SELECT 1 FROM a LIMIT 5', ['SELECT 1 FROM a']],
  ['INSERT INTO a VALUES (1) ON CONFLICT DO NOTHING', ['INSERT INTO a VALUES (1)']],
])('SQL loses each part of its conditions: %s', (sql, expected) => {
  expect(mutate(sql)).toEqual(expected);
});

test('code gets each small fault, and its types get none', () => {
  const source = `type A = 2 | true;
if (a < limit && !b) stop();
const c: A = d === 1_000 ? true : e;
const f = 60 * c;`;
  const lines = source.split('\n');
  const mutants = mutateFile('file.ts', source).map((mutant) =>
    applyMutant(source, mutant)
      .split('\n')
      .filter((line, index) => line !== lines[index])
      .join('\n'),
  );
  expect(mutants.toSorted()).toEqual(
    [
      'if (true) stop();',
      'if (false) stop();',
      'if (a <= limit && !b) stop();',
      'if (a < limit || !b) stop();',
      'if (a < limit && b) stop();',
      'if (a < limit && !b) ;',
      'const c: A = true ? true : e;',
      'const c: A = false ? true : e;',
      'const c: A = d !== 1_000 ? true : e;',
      'const c: A = d === 1001 ? true : e;',
      'const c: A = d === 1_000 ? false : e;',
      'const f = 60 / c;',
    ].toSorted(),
  );
});

test('calls are recorded by function, and code outside of functions belongs to all of them', () => {
  const source = `const limit = 2;
const add = (a) => (b) => ({ sum: a + b });
function outer() {
  const unused = () => 1;
  return add(limit)(3);
}
class Box {
  get size() { return 4; }
}
[outer().sum, new Box().size];`;
  const hits: string[] = [];
  const context = { truewardHit: (name: string) => hits.push(name) };
  const code = recordCalls('file.js', source);
  expect(runInNewContext(code, context)).toEqual([5, 4]);
  const namesOf = (text: string) => namesAt('file.js', source, source.indexOf(text));
  const called = (text: string) => namesOf(text).every((name) => hits.includes(name));
  expect(['a + b', '(b) =>', 'add(limit)', 'return 4'].map(called)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect([namesOf('1;').length, called('1;')]).toEqual([1, false]);
  expect(namesOf('2;')).toHaveLength(5);
});

test.each<[string, boolean]>([
  ['if (cache.size >= maxCached) cache.clear();', true],
  ['if (rows.length > limit) stop();', true],
  ['if (used < options.minShare) stop();', true],
  ['if (cache.size === maxCached) cache.clear();', false],
  ['if (age > 5) cache.clear();', false],
  ['const maxCached = 10_000;', false],
])('knows comparisons with a limit: %s', (source, expected) => {
  expect(mutateFile('file.ts', source).some(isLimit)).toBe(expected);
});
