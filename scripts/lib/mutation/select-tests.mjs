import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from '../run.mjs';
import { namesAt } from './functions.mjs';

/** Words that occur in too many names to connect a test with a file. */
const commonWords = new Set(
  'a and check create delete for get make read record start store service test'.split(' '),
);

/** How many test files may judge a mutant, and how long they may take. Functions that every ad needs are called by more. */
const maxTests = 12;
const maxTotalMs = 30_000;

/**
 * Returns the tests that call the mutated function, in the order in which they should run: first those that are fast and
 * call few functions, because a test that calls few is likely to be about these; above all if its name shares a word
 * with the file's name.
 *
 * @param {import('./mutate-code.mjs').Mutant} mutant
 * @param {readonly import('./recording.mjs').Recorded[]} recording
 */
export function selectTests({ file, start }, recording) {
  const called = (/** @type {readonly string[]} */ names) =>
    recording.filter(({ calls }) => names.some((name) => calls.includes(name)));
  const source = readFileSync(join(root, file), 'utf8');
  const callers = called(namesAt(file, source, start));
  const words = splitWords(basename(file, '.ts'));
  const isNamed = (/** @type {string} */ test) =>
    splitWords(basename(test, '.test.ts')).some((word) => words.includes(word));
  const cost = (/** @type {import('./recording.mjs').Recorded} */ { test, ms, calls }) =>
    (ms + 1_000) * calls.length * (isNamed(test) ? 0.25 : 1);
  let totalMs = 0;
  // A function that is called only while its file loads isn't recorded, so it's like code outside of functions.
  return (callers.length > 0 ? callers : called(namesAt(file, source, -1)))
    .toSorted((a, b) => cost(a) - cost(b))
    .filter(({ ms }) => {
      if (totalMs > 0 && totalMs + ms > maxTotalMs) return false;
      totalMs += ms;
      return true;
    })
    .slice(0, maxTests);
}

/** @param {string} name */
const splitWords = (name) =>
  name
    .split('-')
    .map((word) => word.replace(/(s|ing)$/, ''))
    .filter((word) => word.length > 2 && !commonWords.has(word));
