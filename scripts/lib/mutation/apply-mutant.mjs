import { relative } from 'node:path';
import { root } from '../run.mjs';
import { recordCalls } from './functions.mjs';
import { applyMutant } from './mutate-code.mjs';

const isRecording = process.env['TRUEWARD_RECORD_CALLS'] !== undefined;

/**
 * The mutant that is being tested. It is on the global object, because Vitest bundles its configuration, and with it
 * this module.
 *
 * @type {{ truewardMutant?: import('./mutate-code.mjs').Mutant | undefined }}
 */
const holder = /** @type {any} */ (globalThis);

/** @param {import('./mutate-code.mjs').Mutant | undefined} mutant */
export function setMutant(mutant) {
  holder.truewardMutant = mutant;
}

/**
 * A Vite plugin that applies the mutant while a file is loaded. The file itself isn't changed, so that an interrupted run
 * leaves nothing behind. If `TRUEWARD_RECORD_CALLS` is set, it adds a call to each function instead; see `recording.mjs`.
 *
 * @returns {import('vite').Plugin[]}
 */
export const mutantPlugin = () => [
  {
    name: 'trueward-mutant',
    enforce: 'pre',
    transform(source, id) {
      const [path = ''] = id.split('?');
      const file = relative(root, path).replaceAll('\\', '/');
      if (isRecording)
        return /^(service\/)?src\/.*\.ts$/.test(file)
          ? { code: recordCalls(file, source), map: null }
          : undefined;
      const mutant = holder.truewardMutant;
      return mutant?.file === file ? { code: applyMutant(source, mutant), map: null } : undefined;
    },
  },
];
