import { join } from 'node:path';
import { root } from '../run.mjs';
import { applyMutant } from './mutate-code.mjs';

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
 * A Vite plugin that applies the mutant while a file is loaded. The file itself isn't changed, so that an interrupted
 * run leaves nothing behind.
 *
 * @returns {import('vite').Plugin[]}
 */
export const mutantPlugin = () => [
  {
    name: 'trueward-mutant',
    enforce: 'pre',
    transform(source, id) {
      const mutant = holder.truewardMutant;
      return mutant && id.split('?')[0] === join(root, mutant.file)
        ? { code: applyMutant(source, mutant), map: null }
        : undefined;
    },
  },
];
