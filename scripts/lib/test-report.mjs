import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { root } from './run.mjs';

const path = join(root, 'node_modules', '.cache', 'test-report.json');

/**
 * All times are in milliseconds.
 *
 * @typedef {import('vitest/node').Reporter} Reporter
 * @typedef {import('vitest/node').TestModule} TestModule
 * @typedef {import('vitest/node').TestState} TestState
 * @typedef {{ passed: number, failed: number, skipped: number }} Tally
 * @typedef {{ name: string, ms: number }} Test
 * @typedef {{ file: string, project: string, importMs?: number, hooksMs: number, testDurationMs: number, cpuMs?: number,
 * slowest?: Test }} FileTiming `importMs` is the time to load the file and collect its tests, including setup. It is
 * unknown in a browser, where Vitest's value includes the time that the file spent waiting for a page.
 * @typedef {{ startedAt: string, ms: number, tally: Tally, files: FileTiming[] }} TestReport
 */

/** @returns {TestReport | undefined} The report from the last run, or undefined if the run did not finish. */
export function readTestReport() {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

export const deleteTestReport = () => rmSync(path, { force: true });

/**
 * The Vitest reporter that writes the report. Vitest's own JSON report lacks import, hook and CPU times.
 *
 * @implements {Reporter}
 */
export default class TestReporter {
  #startedAt = Date.now();

  onTestRunStart() {
    this.#startedAt = Date.now();
  }

  /** @param {readonly TestModule[]} modules */
  onTestRunEnd(modules) {
    /** @type {TestReport} */
    const report = {
      startedAt: new Date(this.#startedAt).toISOString(),
      ms: Date.now() - this.#startedAt,
      tally: countResults(modules),
      files: modules.map(readTiming),
    };
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(report));
  }
}

/**
 * @param {readonly TestModule[]} modules
 * @returns {Tally}
 */
function countResults(modules) {
  const count = (/** @type {TestState} */ state) =>
    modules.reduce((sum, { children }) => sum + [...children.allTests(state)].length, 0);
  // If a file can't be loaded or one of its hooks fails, the file counts as failed even though none of its tests do.
  const filesWithoutFailedTest = modules.filter(
    (module) => module.state() === 'failed' && module.children.allTests('failed').next().done,
  );
  return {
    passed: count('passed'),
    failed: count('failed') + filesWithoutFailedTest.length,
    skipped: count('skipped'),
  };
}

/**
 * @param {TestModule} module
 * @returns {FileTiming}
 */
function readTiming(module) {
  const { environmentSetupDuration, prepareDuration, setupDuration, collectDuration, duration } =
    module.diagnostic();
  const tests = [...module.children.allTests()]
    .map((test) => ({ name: test.name, ms: test.diagnostic()?.duration ?? 0 }))
    .toSorted((a, b) => b.ms - a.ms);
  // The durations of concurrent tests can add up to more than the file's duration.
  const testDurationMs = Math.min(
    duration,
    tests.reduce((sum, { ms }) => sum + ms, 0),
  );
  // Set by test/measure-cpu.ts.
  const { cpuMs } = /** @type {{ cpuMs?: number }} */ (module.meta());
  return {
    file: relative(root, module.moduleId),
    project: module.project.name,
    ...(module.project.isBrowserEnabled()
      ? {}
      : {
          importMs: environmentSetupDuration + prepareDuration + setupDuration + collectDuration,
        }),
    hooksMs: duration - testDurationMs,
    testDurationMs,
    ...(cpuMs === undefined ? {} : { cpuMs }),
    ...(tests[0] === undefined ? {} : { slowest: tests[0] }),
  };
}
