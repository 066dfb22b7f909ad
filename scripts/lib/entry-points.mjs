import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

/** @type {{ exports: Record<string, string | { types: string, default: string }> }} */
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The type declarations of each module that a user can import, by its name. */
export const typeEntries = Object.fromEntries(
  Object.entries(manifest.exports).flatMap(([path, target]) =>
    typeof target === 'string' ? [] : [[path.replace('.', 'trueward'), target.types]],
  ),
);
