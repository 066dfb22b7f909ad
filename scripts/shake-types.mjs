/**
 * The last step of the SDK's build: leaves of `dist/types` what a user of the package can see.
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { typeEntries } from './lib/entry-points.mjs';
import { root } from './lib/run.mjs';
import { shakeTypes } from './lib/shake-types.mjs';

const folder = join(root, 'dist', 'types');
const shaken = shakeTypes(Object.values(typeEntries).map((path) => join(root, path)));
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
  if (entry.isFile()) rmSync(join(entry.parentPath, entry.name));
for (const [file, text] of shaken) writeFileSync(file, text);
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
  if (entry.isDirectory() && readdirSync(join(entry.parentPath, entry.name)).length === 0)
    rmSync(join(entry.parentPath, entry.name), { recursive: true });
