import { join } from 'node:path';
import { root } from '../run.mjs';
import { applyMutant } from './mutate-code.mjs';

/**
 * A Vite plugin that applies the mutant in the environment variable `TRUEWARD_MUTANT` while a test run loads the file.
 * The file itself isn't changed, so that an interrupted run leaves nothing behind.
 *
 * @returns {import('vite').Plugin[]}
 */
export function mutantPlugin() {
  const text = process.env['TRUEWARD_MUTANT'];
  if (text === undefined) return [];
  /** @type {import('./mutate-code.mjs').Mutant} */
  const mutant = JSON.parse(text);
  const path = join(root, mutant.file);
  return [
    {
      name: 'trueward-mutant',
      enforce: 'pre',
      transform: (source, id) =>
        id.split('?')[0] === path ? { code: applyMutant(source, mutant), map: null } : undefined,
    },
  ];
}
