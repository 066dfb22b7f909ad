import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { defaultQuotas } from '../../src/platform/quota-limits.ts';

test('the operators’ guide names every limit on what an account stores, with its default', () => {
  const page = readFileSync(
    fileURLToPath(new URL('../../../docs/operate.md', import.meta.url)),
    'utf8',
  );
  const [, section = ''] = page.split('\n### What an account stores\n');
  const [table = ''] = section.split('\n### ');
  const documented = [...table.matchAll(/^\| (`.*?`) +\| ([\d, ]+?) +\|/gm)].flatMap(
    ([, names = '', numbers = '']) => {
      const limits = numbers.split(', ').map((number) => Number(number.replaceAll(',', '')));
      return names.split(', ').map((name, index) => [name.slice(1, -1), limits[index]]);
    },
  );
  expect(Object.fromEntries(documented)).toEqual(defaultQuotas);
});
