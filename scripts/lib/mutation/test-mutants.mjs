import { formatDuration } from '../run.mjs';
import { createTestServer, judge } from './run-mutant.mjs';
import { selectTests } from './select-tests.mjs';

/** @typedef {import('./mutate-code.mjs').Mutant} Mutant */
/** @typedef {{ mutant: Mutant, outcome: import('./run-mutant.mjs').Outcome | 'untested' | 'unjudged' }} Result */

/** @typedef {import('./recording.mjs').Recorded} Recorded */

/**
 * How long tests may take: four times as long as when they were recorded, and what it takes to start the process that
 * runs them. Tests that take longer hang.
 *
 * @param {readonly Recorded[]} tests
 */
const limitFor = (tests) =>
  Math.min(
    240_000,
    tests.reduce((sum, { ms }) => sum + 4 * ms, 60_000),
  );

/**
 * Tests mutants one after another, and prints each result and a summary per file. Returns the exit code: 2 if the
 * run was interrupted, or the machine was too slow to judge some.
 *
 * @param {readonly Mutant[]} mutants
 * @param {readonly Recorded[]} recording the tests
 * @param {{ minimum: number, maxTotalMs: number, describe: (mutant: Mutant) => string }} options
 */
export async function testMutants(mutants, recording, { minimum, maxTotalMs, describe }) {
  const stopped = new AbortController();
  const stop = () => stopped.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const server = createTestServer(stopped.signal);
  const passing = recording.filter(({ passed }) => passed);
  const failing = recording.filter(({ passed }) => !passed).map(({ test }) => test);
  if (failing.length > 0)
    console.error(
      `These tests fail without a mutant, so they can't judge one: ${failing.join(' ')}`,
    );
  /** @type {Result[]} */
  const results = [];
  for (const [index, mutant] of mutants.entries()) {
    const startedAt = performance.now();
    const tests = selectTests(mutant, passing, maxTotalMs);
    const outcome = await testMutant(mutant, tests, server).catch((error) => {
      if (!stopped.signal.aborted) throw error;
    });
    if (outcome === undefined) break;
    results.push({ mutant, outcome });
    console.log(
      `${index + 1}/${mutants.length}  ${outcome.padEnd(8)}  ${describe(mutant)}  (${formatDuration(performance.now() - startedAt)})`,
    );
  }
  server.end();
  if (stopped.signal.aborted) console.error(`Interrupted after ${results.length} mutants.`);
  const exitCode = summarize(results, minimum, describe);
  return stopped.signal.aborted ? 2 : exitCode;
}

/**
 * Tests a mutant with the two tests that are most likely to notice it. If it survives, also with the others, eight at a time.
 *
 * @param {Mutant} mutant
 * @param {readonly Recorded[]} selected
 * @param {ReturnType<typeof createTestServer>} server
 * @returns {Promise<Result['outcome']>} `unjudged` if the tests take too long without the mutant too
 */
async function testMutant(mutant, selected, server) {
  /** @type {Result['outcome']} */
  let outcome = 'untested';
  for (let from = 0, size = 2; from < selected.length; from += size, size = 8) {
    const tests = selected.slice(from, from + size);
    const names = tests.map(({ test }) => test);
    const limitMs = limitFor(tests);
    const result = await server.run(names, { limitMs, mutant });
    outcome = judge(result);
    if (outcome === 'survived') continue;
    if (result.isTimedOut) {
      const baseline = await server.run(names, { limitMs });
      return judge(baseline) === 'survived' ? outcome : 'unjudged';
    }
    // The browser stays open, so a test may fail because of what an earlier run has left in it.
    const inBrowser = result.failed.filter((test) => test.startsWith('test/browser/'));
    if (inBrowser.length === 0) return outcome;
    const baseline = await server.run(inBrowser, { limitMs });
    if (judge(baseline) === 'survived') return outcome;
    server.end();
    return judge(await server.run(names, { limitMs, mutant }));
  }
  return outcome;
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
  const { noticed, tested, skipped, unjudged } = count(results);
  const score = tested === 0 ? 100 : (100 * noticed) / tested;
  console.log(
    `\nScore: ${score.toFixed(1)} % (${noticed} of ${tested} noticed, ${skipped} skipped, ${unjudged} unjudged; minimum ${minimum} %)`,
  );
  if (unjudged > 0) return 2;
  return score >= minimum ? 0 : 1;
}

/** @param {readonly Result[]} results */
function count(results) {
  const skipped = results.filter(({ outcome }) => outcome === 'skipped').length;
  const unjudged = results.filter(({ outcome }) => outcome === 'unjudged').length;
  const noticed = results.filter(({ outcome }) => outcome === 'noticed').length;
  return { noticed, skipped, unjudged, tested: results.length - skipped - unjudged };
}
