import { expect, test } from 'vitest';
import { formatHelp, OptionError, parseOptions } from '../../../scripts/lib/read-options.mjs';

const stores = ['postgresql', 'embedded'] as const;
const options = {
  part: { type: 'name', names: ['one', 'two'], argument: true, several: true, help: 'the parts' },
  kills: { type: 'whole', default: 20, help: 'kills' },
  seed: { type: 'whole', least: 0, help: 'the seed' },
  minutes: { type: 'number', help: 'the length' },
  store: { type: 'name', names: stores, default: 'embedded', help: 'the store' },
  sizes: { type: 'whole', several: true, default: 5, help: 'the sizes' },
  url: { type: 'text', several: true, help: 'the servers' },
  folder: { type: 'text', help: 'the folder' },
  'fill-only': 'fills; requires --folder',
} as const;
const described = { name: 'bench:example', about: 'Does nothing.', options };
const command = {
  ...described,
  check: (values: { folder?: string | undefined; 'fill-only': boolean }) =>
    values['fill-only'] && values.folder === undefined ? '--fill-only needs --folder.' : undefined,
};
const defaults = {
  part: ['one', 'two'],
  kills: 20,
  seed: undefined,
  minutes: undefined,
  store: 'embedded',
  sizes: [5],
  url: [],
  folder: undefined,
  'fill-only': false,
};

test.each<[args: string[], values: object]>([
  [[], {}],
  [['two'], { part: ['two'] }],
  [['two', 'one', 'two'], { part: ['one', 'two'] }],
  [['--kills', '3', '--seed=0', '--minutes', '0.5'], { kills: 3, seed: 0, minutes: 0.5 }],
  [['--kills=1', '--kills=2'], { kills: 2 }],
  [['--store', 'postgresql', 'one'], { store: 'postgresql', part: ['one'] }],
  [['--sizes', '1,2', '--sizes=3'], { sizes: [1, 2, 3] }],
  [['--url', 'a://b,c/d', '--url', 'e://f'], { url: ['a://b,c/d', 'e://f'] }],
  [
    ['--fill-only', '--folder', '/tmp', '--', 'one'],
    { 'fill-only': true, folder: '/tmp', part: ['one'] },
  ],
])('%j is read', (args, values) => {
  expect(parseOptions(command, args)).toEqual({ ...defaults, ...values });
});

test.each<[args: string[], message: string]>([
  [['--kilns', '3'], 'Got the option --kilns, expected --kills, --seed, '],
  [['-k'], 'Got the option -k, expected --kills, '],
  [['--part', 'one'], 'Got the option --part, expected --kills, '],
  [['three'], '<part>…: got "three", expected one of one, two.'],
  [['one,three'], '<part>…: got "three", expected one of one, two.'],
  ...['x', '0', '-1', '1.5', '1e999', 'NaN', '3 kills'].map((text): [string[], string] => [
    ['--kills', text],
    `--kills: got ${JSON.stringify(text)}, expected a whole number of at least 1.`,
  ]),
  [['--kills='], '--kills: got nothing, expected a whole number of at least 1.'],
  [['--kills'], '--kills: got nothing, expected a whole number of at least 1.'],
  [['--kills', '--seed'], '--kills: got "--seed", expected a whole number of at least 1.'],
  [['--seed=-1'], '--seed: got "-1", expected a whole number of at least 0.'],
  [['--seed='], '--seed: got nothing, expected a whole number of at least 0.'],
  [['--minutes', '0'], '--minutes: got "0", expected a number above 0.'],
  [['--minutes', 'Infinity'], '--minutes: got "Infinity", expected a number above 0.'],
  [['--store', 'mysql'], '--store: got "mysql", expected one of postgresql, embedded.'],
  [['--store'], '--store: got nothing, expected one of postgresql, embedded.'],
  [['--sizes', '1,,2'], '--sizes: got nothing, expected a whole number of at least 1.'],
  [['--folder', '--fill-only'], '--folder: got "--fill-only", expected a text that doesn’t begin'],
  [['--fill-only=no'], '--fill-only: got "no", expected no value.'],
  [['--fill-only'], '--fill-only needs --folder.'],
])('%j is refused', (args, message) => {
  expect(() => parseOptions(command, args)).toThrow(OptionError);
  expect(() => parseOptions(command, args)).toThrow(message);
});

test('an argument of a command that takes none, or one more than it takes, is refused', () => {
  const requests = { type: 'whole', argument: true, default: 5, help: 'requests' } as const;
  const read = (...args: string[]) =>
    parseOptions({ name: 'fuzz', about: '', options: { requests } }, args);
  expect(read('7')).toEqual({ requests: 7 });
  expect(() => read('x')).toThrow('<requests>: got "x", expected a whole number of at least 1.');
  expect(() => read('7', '8')).toThrow('Got the argument "8", expected no more.');
  expect(() => parseOptions({ name: 'sizes', about: '' }, ['x'])).toThrow(
    'Got the argument "x", expected none.',
  );
});

test('the help shows everything that is accepted, with defaults, in lines of a terminal’s width', () => {
  expect(formatHelp(described)).toBe(`npm run bench:example [-- <part>… options]

Does nothing.

  <part>…          the parts: one, two (default: all)
  --kills <n>      kills (default: 20)
  --seed <n>       the seed
  --minutes <n>    the length
  --store <name>   the store: postgresql, embedded (default: embedded)
  --sizes <n>…     the sizes (default: 5)
  --url <text>…    the servers
  --folder <text>  the folder
  --fill-only      fills; requires --folder
  --help           shows this text`);
  const long = formatHelp({ name: 'start', about: '', options: { x: 'word '.repeat(99).trim() } });
  expect(long.split('\n').every((line) => line.length <= 114)).toBe(true);
  expect(long).toMatch(/^npm start \[-- options\]\n/);
});
