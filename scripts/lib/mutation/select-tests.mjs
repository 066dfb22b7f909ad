import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../run.mjs';
import { namesAt } from './functions.mjs';

/** @typedef {import('./recording.mjs').Recorded} Recorded */

/** How many test files may judge a mutant. Functions that every ad needs are called by more. */
const maxTests = 40;
/** The tests that are about all statements. They notice most faults in SQL, so they come first. */
const testsOfSql = ['service/test/http/reads.test.ts', 'service/test/http/writes.test.ts'];
/** How many lines before and after a mutant say what it is about. */
const linesAround = 3;

/**
 * Returns the tests that call the mutated function, in the order in which they should run: first those that are likely
 * to be about it. These share rare words with the mutated file's name and with the lines around the mutant, and they are
 * fast and call few functions.
 *
 * @param {import('./mutate-code.mjs').Mutant} mutant
 * @param {readonly Recorded[]} recording
 * @param {number} maxTotalMs how long they may take together
 */
export function selectTests({ file, start, line, kind }, recording, maxTotalMs) {
  const called = (/** @type {readonly string[]} */ names) =>
    recording.filter(({ calls }) => names.some((name) => calls.includes(name)));
  const source = readFileSync(join(root, file), 'utf8');
  const callers = called(namesAt(file, source, start));
  // A function that is called only while its file loads isn't recorded, so it's like code outside of functions.
  const candidates = callers.length > 0 ? callers : called(namesAt(file, source, -1));
  const linesNear = source
    .split('\n')
    .slice(Math.max(0, line - 1 - linesAround), line + linesAround);
  const words = [...readWords(`${file} ${linesNear.join(' ')}`)];
  const byRelevance = rank(candidates, ({ test }) => -scoreWords(words, test, recording));
  const byCost = rank(candidates, ({ ms, calls }) => (ms + 1_000) * calls.length);
  const isFirst = (/** @type {Recorded} */ { test }) => kind === 'sql' && testsOfSql.includes(test);
  const ranks = new Map(
    candidates.map((each) => [
      each,
      isFirst(each) ? -1 : byRelevance.indexOf(each) + byCost.indexOf(each) / 2,
    ]),
  );
  const ranked = rank(candidates, (each) => ranks.get(each) ?? 0);
  // A slow test would leave no time for others.
  const quick = ranked.filter(({ ms }) => ms <= maxTotalMs / 4);
  let totalMs = 0;
  return (quick.length > 0 ? quick : ranked.slice(0, 1))
    .filter(({ ms }) => {
      if (totalMs > 0 && totalMs + ms > maxTotalMs) return false;
      totalMs += ms;
      return true;
    })
    .slice(0, maxTests);
}

/**
 * @template T
 * @param {readonly T[]} items
 * @param {(item: T) => number} valueOf
 */
const rank = (items, valueOf) => items.toSorted((a, b) => valueOf(a) - valueOf(b));

/**
 * Returns how much a test's text has in common with these words. A word that occurs in few tests says more.
 *
 * @param {readonly string[]} words
 * @param {string} test
 * @param {readonly Recorded[]} recording
 */
function scoreWords(words, test, recording) {
  const inTest = readTestWords(test);
  let score = 0;
  for (const word of words) {
    if (!inTest.has(word)) continue;
    const count = recording.filter((other) => readTestWords(other.test).has(word)).length;
    score += Math.log(recording.length / count);
  }
  return score;
}

/** @type {Map<string, Set<string>>} */
const testWords = new Map();

/** @param {string} test */
function readTestWords(test) {
  let words = testWords.get(test);
  if (!words) {
    words = readWords(`${test} ${readFileSync(join(root, test), 'utf8')}`);
    testWords.set(test, words);
  }
  return words;
}

/**
 * Returns the words of names and texts, such as `key`, `store` and `id` for `keyStore.id`.
 *
 * @param {string} text
 */
const readWords = (text) =>
  new Set(Array.from(text.matchAll(/[A-Z]?[a-z]{2,}|[A-Z]{2,}/g), ([word]) => word.toLowerCase()));
