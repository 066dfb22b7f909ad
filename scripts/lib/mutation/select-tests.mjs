import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { root } from '../run.mjs';
import { namesAt } from './functions.mjs';
import { listFiles } from './list-files.mjs';

/** The folders with tests that can notice a fault in the core. A service's own process runs its built code. */
const testFolders = [
  'test/unit',
  'test/browser',
  'test/property',
  'service/test/unit',
  'service/test/http',
];

/** Words that occur in too many names to connect a test with a file. */
const commonWords = new Set(
  'a and check create delete for get make read record start store service test'.split(' '),
);

/** How many test files may judge a mutant. Functions that every request calls have more. */
const maxTests = 30;

/**
 * Finds the tests for a mutant, in the order in which they should run. In the service, these are the tests that call the
 * mutated function: first those that share a word with its file's name, then the fastest. In the SDK, they are the tests that import the file most
 * directly or share a word with its name, unit tests first, and then those that share a word with its folder or mention it.
 *
 * @param {import('./mutate-code.mjs').Mutant} mutant
 * @param {readonly import('./recording.mjs').Recorded[]} recording
 */
export function selectTests({ file, start }, recording) {
  const tests = testFolders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap(listFiles)
    .filter((test) => test.endsWith('.test.ts') && !test.endsWith('.full.test.ts'))
    // The SDK's browser tests say nothing about the service, and the other way around.
    .filter((test) => file.startsWith('service/') !== /^test\/(unit|browser)/.test(test));
  const named = matchWords(basename(file, '.ts'), tests);
  if (file.startsWith('service/')) {
    const names = namesAt(file, readFileSync(join(root, file), 'utf8'), start);
    const rank = (/** @type {{ test: string, ms: number }} */ { test, ms }) =>
      ms + (named.includes(test) ? 0 : 1_000_000);
    return recording
      .filter(
        ({ test, calls }) => tests.includes(test) && names.some((name) => calls.includes(name)),
      )
      .toSorted((a, b) => rank(a) - rank(b))
      .slice(0, maxTests)
      .map(({ test }) => test);
  }
  const narrow = [...new Set([...findImporters(file, tests), ...named])];
  const rank = (/** @type {string} */ test) =>
    Number(!named.includes(test)) * 2 + Number(!test.includes('/unit/'));
  const wide = [...matchWords(basename(dirname(file)), tests), ...findMentions(file, tests)];
  return [...new Set([...narrow.toSorted((a, b) => rank(a) - rank(b)), ...wide])].slice(
    0,
    maxTests,
  );
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
    const sources = listFiles('src');
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
