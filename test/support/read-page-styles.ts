import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the stylesheets in the folder PAGE_STYLES, such as those of CSS frameworks, by file name. */
export function readPageStyles(): Record<string, string> {
  const folder = process.env['PAGE_STYLES'];
  if (folder === undefined) return {};
  const names = readdirSync(folder).filter((name) => name.endsWith('.css'));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}
