import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const folder = join(import.meta.dirname, '../../..');
const read = (...path: string[]): string => readFileSync(join(folder, ...path), 'utf8');

/** Names of locks, which store nothing. */
const locks = ['guest', 'spend'];

test('the browser tests’ neighbor has everything that the SDK stores', () => {
  const sources = readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.startsWith('server'))
    .map((name) => ({ name, text: read('src', name) }));
  const kinds = sources.flatMap(({ text }) =>
    [...text.matchAll(/\$\{(?:\w+\.)?name\}:([\w-]+)`/g)].map(([, kind = '']) => kind),
  );
  const [, list = ''] = /storageKinds = \[(.*)\]/.exec(read('test/browser/neighbor.ts')) ?? [];
  const neighborKinds = list.split(', ').map((kind) => kind.slice(1, -1));
  expect([...new Set(kinds)].filter((kind) => !locks.includes(kind)).toSorted()).toEqual(
    neighborKinds.toSorted(),
  );
  // The only code that opens a database or uses the browser's other storage. It takes its names from the code above.
  const storage =
    /indexedDB\.|\.open\(options\.name|localStorage|sessionStorage|caches\.|\.cookie\b/;
  expect(sources.filter(({ text }) => storage.test(text)).map(({ name }) => name)).toEqual([
    'create-ads.ts',
    'platform/database.ts',
  ]);
});
