/**
 * An accepted mutant: no input can reveal it, for the given reason.
 *
 * @typedef {{ file: string, original: string, replacement: string, reason: string }} Equivalent
 */

/**
 * Whitespace in `original` and `replacement` is collapsed. Describe why no input can reveal the fault, not why it seems
 * harmless.
 *
 * @type {readonly Equivalent[]}
 */
const equivalents = [
  {
    file: 'service/src/access/links.ts',
    original: 'LIMIT 1',
    replacement: '',
    reason: 'The statement only shows whether there are users; more rows say the same.',
  },
  ...['service/src/demand/intake/external-creative.ts', 'service/src/webhook/probe.ts'].map(
    (file) => ({
      file,
      original: 'LIMIT 1',
      replacement: '',
      reason: 'Only the first row is used.',
    }),
  ),
  {
    file: 'service/src/reward/read-decisions.ts',
    original: 'OFFSET 0',
    replacement: '',
    reason: 'It skips no row; it only keeps the planner from merging the queries.',
  },
  {
    file: 'service/src/decision/load-configuration.ts',
    original: 'ORDER BY id',
    replacement: '',
    reason: 'The snapshot sorts whatever has an order.',
  },
  {
    file: 'service/src/http/monitoring/demand-metrics.ts',
    original: '<',
    replacement: '<=',
    reason: 'A request that is due right now has been overdue for 0 s, as if there were none.',
  },
];

/** @param {string} text */
const flatten = (text) => text.replaceAll(/\s+/g, ' ').trim();

/** @param {import('./mutate-code.mjs').Mutant} mutant */
export const isEquivalent = ({ file, original, replacement }) =>
  equivalents.some(
    (accepted) =>
      accepted.file === file &&
      accepted.original === flatten(original) &&
      accepted.replacement === flatten(replacement),
  );
