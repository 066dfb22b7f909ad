import { formatDuration } from '../run.mjs';
import { judge, runTests } from './run-mutant.mjs';
import { selectTests } from './select-tests.mjs';

/** @typedef {import('./mutate-code.mjs').Mutant} Mutant */
/** @typedef {{ mutant: Mutant, outcome: import('./run-mutant.mjs').Outcome | 'untested' }} Result */

/** How long the tests may take without a mutant. */
const baselineLimitMs = 1_800_000;
const shortestLimitMs = 60_000;

/**
 * Tests mutants one after another, and prints each result and a summary per file. Returns the exit code.
 *
 * @param {readonly Mutant[]} mutants
 * @param {{ minimum: number, describe: (mutant: Mutant) => string }} options
 */
export async function testMutants(mutants, { minimum, describe }) {
  const stopped = new AbortController();
  const stop = () => stopped.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const baseline = createBaseline(stopped.signal);
  /** @type {Result[]} */
  const results = [];
  for (const [index, mutant] of mutants.entries()) {
    const startedAt = performance.now();
    const outcome = await testMutant(mutant, baseline, stopped.signal);
    if (stopped.signal.aborted) {
      console.error('Interrupted.');
      return 2;
    }
    if (outcome === undefined) return 2;
    results.push({ mutant, outcome });
    console.log(
      `${index + 1}/${mutants.length}  ${outcome.padEnd(8)}  ${describe(mutant)}  (${formatDuration(performance.now() - startedAt)})`,
    );
  }
  return summarize(results, minimum, describe);
}

/**
 * Tests a mutant with the narrowest tests. If it survives, also tests it with the tests for its folder.
 *
 * @param {Mutant} mutant
 * @param {ReturnType<typeof createBaseline>} baseline
 * @param {AbortSignal} signal
 * @returns {Promise<Result['outcome'] | undefined>} undefined if the tests fail without the mutant
 */
async function testMutant(mutant, baseline, signal) {
  const { narrow, wide } = selectTests(mutant.file);
  /** @type {Result['outcome']} */
  let outcome = 'untested';
  for (const tests of [narrow, wide]) {
    if (tests.length === 0) continue;
    const limitMs = await baseline(tests);
    if (limitMs === undefined) return undefined;
    outcome = judge(await runTests(tests, { limitMs, mutant, signal }));
    if (outcome !== 'survived') return outcome;
  }
  return outcome;
}

/**
 * Creates a function that runs tests without a mutant, once, and returns the time limit for runs with one. A mutant
 * that takes longer hangs. Returns undefined if the tests fail.
 *
 * @param {AbortSignal} signal
 */
function createBaseline(signal) {
  /** @type {Map<string, number>} */
  const limits = new Map();
  return async (/** @type {readonly string[]} */ tests) => {
    const key = tests.join(' ');
    const known = limits.get(key);
    if (known !== undefined) return known;
    const { code, output, ms } = await runTests(tests, { limitMs: baselineLimitMs, signal });
    if (code !== 0) {
      if (!signal.aborted)
        console.error(
          `${output}\nThese tests fail without a mutant, so they can't judge one: ${key}`,
        );
      return undefined;
    }
    const limitMs = Math.max(shortestLimitMs, 4 * ms);
    limits.set(key, limitMs);
    return limitMs;
  };
}

/**
 * @param {readonly Result[]} results
 * @param {number} minimum
 * @param {(mutant: Mutant) => string} describe
 */
function summarize(results, minimum, describe) {
  const files = [...new Set(results.map(({ mutant }) => mutant.file))];
  console.log('\nFile: noticed of tested');
  for (const file of files) {
    const { noticed, tested } = count(results.filter(({ mutant }) => mutant.file === file));
    console.log(`  ${file}: ${noticed} of ${tested}`);
  }
  const survivors = results.filter(
    ({ outcome }) => outcome === 'survived' || outcome === 'untested',
  );
  if (survivors.length > 0) console.log('\nNot noticed:');
  for (const { mutant, outcome } of survivors)
    console.log(`  ${describe(mutant)}${outcome === 'untested' ? '  (no test found)' : ''}`);
  for (const kind of /** @type {const} */ (['code', 'sql'])) {
    const { noticed, tested } = count(results.filter(({ mutant }) => mutant.kind === kind));
    if (tested > 0) console.log(`\n${kind}: ${noticed} of ${tested} noticed`);
  }
  const { noticed, tested, skipped } = count(results);
  const score = tested === 0 ? 100 : (100 * noticed) / tested;
  console.log(
    `\nScore: ${score.toFixed(1)} % (${noticed} of ${tested} noticed, ${skipped} skipped; minimum ${minimum} %)`,
  );
  return score >= minimum ? 0 : 1;
}

/** @param {readonly Result[]} results */
function count(results) {
  const skipped = results.filter(({ outcome }) => outcome === 'skipped').length;
  const noticed = results.filter(({ outcome }) => outcome === 'noticed').length;
  return { noticed, skipped, tested: results.length - skipped };
}
