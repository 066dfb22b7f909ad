import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const page = readFileSync(join(root, 'docs/threat-model.md'), 'utf8');
const files = new Map(
  [...page.matchAll(/\*\*([A-Z]{1,2})\*\*[^`]*`([^`]+\.test\.ts)`/g)].map(([, letters, path]) => [
    letters ?? '',
    path ?? '',
  ]),
);
/** Splits `B “one”, “two”; XR “three”` into pairs of a file's letter code and a test title. */
const quotedTests = page
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .flatMap((line) => (line.split(' | ')[2] ?? '').split(/(?=\b[A-Z]{1,2} “)/))
  .flatMap((part) =>
    [...part.matchAll(/“([^”]+)”/g)].map(([, name]) => [part.split(' ', 1)[0] ?? '', name ?? '']),
  );

test('the threat model lists its test files and tests', () => {
  expect(files.size).toBeGreaterThan(9);
  expect(quotedTests.length).toBeGreaterThan(35);
});

test('every path in the table of assets exists', () => {
  const [, table = ''] = page.split(/^## Assets.*$/m);
  const [section = ''] = table.split(/^## /m);
  const paths = [...section.matchAll(/`((?:src|test)\/[^`]+)`/g)].map(([, path]) => path ?? '');
  expect(paths.length).toBeGreaterThan(30);
  const missing = paths.filter(
    (path) => !existsSync(join(root, 'service', path)) && !existsSync(join(root, path)),
  );
  expect(missing).toEqual([]);
});

test('every test that shows what is promised exists', () => {
  const promises = readFileSync(join(root, 'docs/SECURITY.md'), 'utf8').split('\n- **').slice(1);
  for (const promise of promises) {
    const [, shown] = promise.split(' Shown by ');
    const paths = [...(shown ?? '').matchAll(/`([^`]+\.ts)`/g)].map(([, path]) => path ?? '');
    expect([promise.slice(0, 40), paths.length > 0]).toEqual([promise.slice(0, 40), true]);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  }
  expect(promises).toHaveLength(4);
});

test.each(quotedTests)('the test %s “%s” that the threat model quotes exists', (letter, name) => {
  const path = files.get(letter);
  expect(path, `the file ${letter}`).toBeDefined();
  const text = readFileSync(join(root, path ?? ''), 'utf8');
  // `%s` stands for the name of a test case, so the text around it has to identify the test.
  const names = [...text.matchAll(/'((?:[^'\\\n]|\\.)+)'|\b(?:it|test)\("([^"\n]+)"/g)]
    .map(([, title, titleWithApostrophe]) => title ?? titleWithApostrophe ?? '')
    .filter((title) => title.replaceAll('%s', '').length > 10)
    .map(
      (title) =>
        new RegExp(`^${title.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('%s', '.+')}$`),
    );
  expect(
    names.some((pattern) => pattern.test(name)),
    `${path} has no test “${name}”`,
  ).toBe(true);
});
