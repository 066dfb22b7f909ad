import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the names of the SDK's types whose objects have to be destroyed, from its sources. Excludes those that only
 * describe what a function needs.
 */
export function listDestroyables(): string[] {
  const folder = join(import.meta.dirname, '..', '..', 'src');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => findDestroyables(readFileSync(join(folder, name), 'utf8')))
    .toSorted();
}

const findDestroyables = (source: string): string[] =>
  [...source.matchAll(/^(?:export )?(?:interface|class) (\w+)[^{]*\{\n(.*?)^\}/gms)]
    .filter(([, name = '', body = '']) => /^ {2}destroy\(/m.test(body) && !name.endsWith('Deps'))
    .map(([, name = '']) => name);
