import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { root } from '../run.mjs';

/** The folders with tests that can notice a fault in the core. A service's own process runs its built code. */
const testFolders = [
  'test/unit',
  'test/browser',
  'test/property',
  'service/test/unit',
  'service/test/http',
];

/** @param {string} folder */
export const listFiles = (folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .toSorted();

/** Words that occur in too many names to connect a test with a file. */
const commonWords = new Set(
  'a and check create delete for get make read record start store service test'.split(' '),
);

/**
 * Finds the tests for a file. `narrow` are those that import it most directly, and those that share a word with its
 * name: the latter first, and unit tests before others. `wide` are the others that share a word with its
 * folder, or mention it.
 *
 * @param {string} file
 */
export function selectTests(file) {
  const tests = testFolders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap(listFiles)
    .filter((test) => test.endsWith('.test.ts') && !test.endsWith('.full.test.ts'))
    // The SDK's browser tests say nothing about the service, and the other way around.
    .filter((test) => file.startsWith('service/') !== /^test\/(unit|browser)/.test(test));
  const direct = findImporters(file, tests);
  const named = matchWords(basename(file, '.ts'), tests);
  /** @param {string} test */
  const rank = (test) => Number(!named.includes(test)) * 2 + Number(!test.includes('/unit/'));
  const narrow = [...new Set([...direct, ...named])].toSorted((a, b) => rank(a) - rank(b));
  const wide = [
    ...new Set([...matchWords(basename(dirname(file)), tests), ...findMentions(file, tests)]),
  ].filter((test) => !narrow.includes(test));
  return narrow.length > 0 ? { narrow, wide } : { narrow: wide, wide: [] };
}

/**
 * Returns the tests that import the file with the fewest steps, up to two.
 *
 * @param {string} file
 * @param {readonly string[]} tests
 */
function findImporters(file, tests) {
  let targets = new Set([file]);
  for (let step = 1; step <= 2; step += 1) {
    const importers = tests.filter((test) => readImports(test).some((name) => targets.has(name)));
    if (importers.length > 0) return importers;
    const sources = listFiles(file.startsWith('service/') ? 'service/src' : 'src');
    targets = new Set(
      sources.filter((source) => readImports(source).some((name) => targets.has(name))),
    );
  }
  return [];
}

/** @type {Map<string, string[]>} */
const importsByFile = new Map();

/** @param {string} file */
function readImports(file) {
  const known = importsByFile.get(file);
  if (known) return known;
  const source = readFileSync(join(root, file), 'utf8');
  const imports = [...source.matchAll(/from '(\.[^']+)'|import\('(\.[^']+)'\)/g)].map(
    ({ 1: first, 2: second }) => normalize(join(dirname(file), first ?? second ?? '')),
  );
  importsByFile.set(file, imports);
  return imports;
}

/**
 * @param {string} name
 * @param {readonly string[]} tests
 */
function matchWords(name, tests) {
  const words = splitWords(name);
  return tests.filter((test) =>
    splitWords(basename(test, '.test.ts')).some((word) => words.includes(word)),
  );
}

/**
 * Returns the tests whose text contains the file's name, such as “user token” for `user-tokens.ts`.
 *
 * @param {string} file
 * @param {readonly string[]} tests
 */
function findMentions(file, tests) {
  const words = splitWords(basename(file, '.ts'));
  if (words.length < 2) return [];
  const phrase = new RegExp(words.join('[ _-]?'), 'i');
  return tests.filter((test) => phrase.test(readFileSync(join(root, test), 'utf8')));
}

/** @param {string} name */
const splitWords = (name) =>
  name
    .split('-')
    .map((word) => word.replace(/(s|ing)$/, ''))
    .filter((word) => word.length > 2 && !commonWords.has(word));
