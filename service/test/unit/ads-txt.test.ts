import { expect, test } from 'vitest';
import { missingAdsTxtLines, parseAdsTxtLine } from '../../src/resource/ads-txt.ts';

test.each([
  ['exchange.example, 1234, DIRECT', 'exchange.example', '1234', 'DIRECT'],
  [
    'Exchange.Example,ab-12 ,reseller, f08c47fec0942fa0 # note',
    'exchange.example',
    'ab-12',
    'RESELLER',
  ],
])('%s is a valid record', (line, system, seller, relationship) => {
  expect(parseAdsTxtLine(line)).toEqual({ system, seller, relationship });
});

test.each([
  '',
  '# exchange.example, 1, DIRECT',
  'contact=ads@game.example',
  'exchange.example, 1',
  'exchange.example, 1, OWNER',
  'exchange, 1, DIRECT',
  'exchange.example, , DIRECT',
])('“%s” is not a record', (line) => {
  expect(parseAdsTxtLine(line)).toBeUndefined();
});

test('a line matches regardless of whitespace, case, comments and certification authority ids', () => {
  const file =
    '\uFEFFEXCHANGE.example,7,direct\r\n#ads.example, 8, DIRECT\r\nads.example, 9, RESELLER, f0';
  const lines = [
    'exchange.example, 7, DIRECT, c1',
    'ads.example, 8, DIRECT',
    'ads.example, 9, RESELLER',
    'ads.example, 9, DIRECT',
  ];
  expect(missingAdsTxtLines(file, lines)).toEqual([
    'ads.example, 8, DIRECT',
    'ads.example, 9, DIRECT',
  ]);
});
