/**
 * `npm run test:mutation` puts small faults (mutants) into the core, one at a time, and checks that a test fails. See
 * `--help`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstall } from './lib/ensure-install.mjs';

await ensureInstall();
// Imported dynamically, because it needs installed packages.
const { readOptions } = await import('./lib/read-options.mjs');
const values = readOptions({
  name: 'test:mutation',
  about: `Puts small faults (mutants) into the core files that differ from the base, one at a time, and checks that a test
fails. Exits with 1 if the score is below the minimum, and with 2 if the tests fail without a mutant.

If you interrupt a run (Ctrl+C), it prints the score of what it has tested. A sample is tested in random order.
A mutant that makes the tests hang counts as noticed. Mutants that no input can reveal are listed in
scripts/lib/mutation/equivalents.mjs, each with a reason.`,
  options: {
    all: 'all core files',
    files: {
      type: 'text',
      shown: 'prefix',
      several: true,
      help: 'only core files whose path begins so; can be repeated',
    },
    tests: {
      type: 'text',
      shown: 'prefix',
      several: true,
      help: 'only tests whose path begins so; can be repeated',
    },
    base: {
      type: 'text',
      shown: 'ref',
      help: 'what to compare with; default: origin/main or main',
    },
    kind: {
      type: 'name',
      names: ['all', 'code', 'sql', 'limit'],
      default: 'all',
      help: 'only mutants of this kind; limit are comparisons with a limit',
    },
    sample: { type: 'whole', help: 'only so many randomly chosen mutants' },
    seed: {
      type: 'whole',
      least: 0,
      help: 'the seed of the sample, to repeat it; default: random, and printed',
    },
    seconds: {
      type: 'whole',
      default: 120,
      help: 'how long the tests that judge a mutant may take together',
    },
    minimum: { type: 'whole', least: 0, default: 95, help: 'the lowest score, in percent' },
    list: 'lists the mutants and their tests without running them',
  },
});
const seed = values.seed ?? Math.floor(Math.random() * 2 ** 31);

process.exitCode = await main();

async function main() {
  const { isEquivalent } = await import('./lib/mutation/equivalents.mjs');
  const { isLimit, mutateFile } = await import('./lib/mutation/mutate-code.mjs');
  const { root } = await import('./lib/run.mjs');
  /** @type {Record<typeof values.kind, (mutant: import('./lib/mutation/mutate-code.mjs').Mutant) => boolean>} */
  const kinds = {
    all: () => true,
    code: ({ kind }) => kind === 'code',
    sql: ({ kind }) => kind === 'sql',
    limit: isLimit,
  };
  const files = await chooseFiles();
  const allMutants = files
    .flatMap((file) => mutateFile(file, readFileSync(join(root, file), 'utf8')))
    .filter(kinds[values.kind]);
  const equivalents = allMutants.filter(isEquivalent);
  const candidates = allMutants.filter((mutant) => !isEquivalent(mutant));
  const mutants = values.sample === undefined ? candidates : draw(candidates, values.sample);
  console.log(
    `${files.length} files, ${allMutants.length} mutants, of which ${equivalents.length} are accepted as equivalent. ` +
      `Testing ${mutants.length}${values.sample === undefined ? '' : ` (seed ${seed})`}.`,
  );
  const { readRecording } = await import('./lib/mutation/recording.mjs');
  const recording = await readRecording(values.tests);
  const maxTotalMs = values.seconds * 1_000;
  if (values.list) {
    const { selectTests } = await import('./lib/mutation/select-tests.mjs');
    for (const mutant of mutants)
      console.log(
        `${describe(mutant)}\n    ${selectTests(mutant, recording, maxTotalMs)
          .map(({ test }) => test)
          .join(' ')}`,
      );
    return 0;
  }
  const { testMutants } = await import('./lib/mutation/test-mutants.mjs');
  return testMutants(mutants, recording, { minimum: values.minimum, maxTotalMs, describe });
}

async function chooseFiles() {
  const { listFiles } = await import('./lib/mutation/list-files.mjs');
  const core = [...listFiles('src'), ...listFiles('service/src')].filter(
    (file) =>
      !/^service\/src\/(program|trace|store\/migrations)\/|\/index\.ts$|^service\/src\/main\.ts$/.test(
        file,
      ),
  );
  if (values.all) return core;
  if (values.files.length > 0)
    return core.filter((file) => values.files.some((prefix) => file.startsWith(prefix)));
  const changed = new Set(listChanges());
  return core.filter((file) => changed.has(file));
}

/** Lists the files that differ from the base, including uncommitted changes. */
function listChanges() {
  const git = (/** @type {string[]} */ ...args) =>
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  const bases = values.base === undefined ? ['origin/main', 'main'] : [values.base];
  for (const base of bases) {
    try {
      return git('diff', '--name-only', git('merge-base', base, 'HEAD')).split('\n');
    } catch {
      // This base does not exist.
    }
  }
  throw new Error(`None of ${bases.join(', ')} is a commit. Pass --base, --files or --all.`);
}

/**
 * Draws a random sample with a seeded generator (mulberry32), in random order: whatever part of it has been tested when a
 * run is interrupted is a random sample too.
 *
 * @template T
 * @param {readonly T[]} items
 * @param {number} count
 */
function draw(items, count) {
  let state = seed | 0;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return items
    .map((item) => ({ item, rank: random() }))
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, count)
    .map(({ item }) => item);
}

/** @param {import('./lib/mutation/mutate-code.mjs').Mutant} mutant */
function describe({ file, line, original, replacement }) {
  const shorten = (/** @type {string} */ text) => {
    const flat = text.replaceAll(/\s+/g, ' ').trim();
    return flat.length > 60 ? `${flat.slice(0, 59)}…` : flat;
  };
  return `${file}:${line}  ${shorten(original)} → ${shorten(replacement) || '(nothing)'}`;
}
