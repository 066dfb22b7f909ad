import { Command, CommanderError } from 'commander';
import { expect, test } from 'vitest';
import {
  type Command as Described,
  type Option,
  readOptions,
} from '../../../scripts/lib/read-options.mjs';

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
const command = {
  name: 'bench:example',
  about: 'Does nothing.',
  options,
  check: (values: { folder?: string | undefined; 'fill-only': boolean }) =>
    values['fill-only'] && values.folder === undefined ? '--fill-only needs --folder.' : undefined,
};
const help = `Usage: npm run bench:example -- [options] [part...]

Does nothing.

Arguments:
  part             the parts (choices: "one", "two", default: all)

Options:
  --kills <n>      kills (default: 20)
  --seed <n>       the seed
  --minutes <n>    the length
  --store <name>   the store (choices: "postgresql", "embedded", default:
                   "embedded")
  --sizes <n...>   the sizes (default: [5])
  --url <text...>  the servers
  --folder <text>  the folder
  --fill-only      fills; requires --folder
  -h, --help       display help for command
`;
/** Reads the options, but returns all that is printed if the command would exit. */
function run<O extends Record<string, Option>>(described: Described<O>, args: string[]) {
  let output = '';
  const write = (text: string) => void (output += text);
  const program = new Command().exitOverride().configureOutput({
    writeOut: write,
    writeErr: write,
    getOutHelpWidth: () => 80,
    getErrHelpWidth: () => 80,
  });
  try {
    return readOptions(described, args, program);
  } catch (error) {
    if (error instanceof CommanderError) return { code: error.exitCode, output };
    throw error;
  }
}
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
  [['two', 'one', 'two'], { part: ['two', 'one'] }],
  [['--kills', '3', '--seed=0', '--minutes', '0.5'], { kills: 3, seed: 0, minutes: 0.5 }],
  [['--kills=1', '--kills=2'], { kills: 2 }],
  [['--store', 'postgresql', 'one'], { store: 'postgresql', part: ['one'] }],
  [['--sizes', '1', '2', '--sizes=3'], { sizes: [1, 2, 3] }],
  [['--url', 'a://b,c/d', '--url', 'e://f'], { url: ['a://b,c/d', 'e://f'] }],
  [
    ['--fill-only', '--folder', '/tmp', '--', 'one'],
    { 'fill-only': true, folder: '/tmp', part: ['one'] },
  ],
])('%j is read', (args, values) => {
  expect(run(command, args)).toEqual({ ...defaults, ...values });
});

const isInvalid = (key: string, shown: string, text: string) =>
  `option '--${key} <${shown}>' argument '${text}' is invalid.`;
test.each<[args: string[], message: string]>([
  [['--kilns', '3'], "unknown option '--kilns'\n(Did you mean --kills?)"],
  [['-k'], "unknown option '-k'"],
  [['--part', 'one'], "unknown option '--part'"],
  [
    ['three'],
    "command-argument value 'three' is invalid for argument 'part'. Allowed choices are one, two.",
  ],
  ...['x', '0', '-1', '1.5', '1e999', 'NaN', '3 kills', '', '--seed'].map(
    (text): [string[], string] => [
      ['--kills', text],
      `${isInvalid('kills', 'n', text)} Expected a whole number of at least 1.`,
    ],
  ),
  [['--kills'], "option '--kills <n>' argument missing"],
  [['--seed=-1'], `${isInvalid('seed', 'n', '-1')} Expected a whole number of at least 0.`],
  [['--seed='], `${isInvalid('seed', 'n', '')} Expected a whole number of at least 0.`],
  [['--minutes', '0'], `${isInvalid('minutes', 'n', '0')} Expected a number above 0.`],
  [
    ['--minutes', 'Infinity'],
    `${isInvalid('minutes', 'n', 'Infinity')} Expected a number above 0.`,
  ],
  [
    ['--store', 'mysql'],
    `${isInvalid('store', 'name', 'mysql')} Allowed choices are postgresql, embedded.`,
  ],
  [['--store'], "option '--store <name>' argument missing"],
  [
    ['--sizes', '1', '2,3'],
    `${isInvalid('sizes', 'n...', '2,3')} Expected a whole number of at least 1.`,
  ],
  [
    ['--folder', '--fill-only'],
    `${isInvalid('folder', 'text', '--fill-only')} Expected a text that doesn’t begin with -.`,
  ],
  [['--fill-only=no'], "unknown option '--fill-only=no'\n(Did you mean --fill-only?)"],
  [['--fill-only'], '--fill-only needs --folder.'],
])('%j is refused', (args, message) => {
  expect(run(command, args)).toEqual({ code: 1, output: `error: ${message}\n\n${help}` });
});

test('an argument of a command that takes none, or one more than it takes, is refused', () => {
  const requests = { type: 'whole', argument: true, default: 5, help: 'requests' } as const;
  const one = { name: 'fuzz', about: '', options: { requests } };
  expect(run(one, ['7'])).toEqual({ requests: 7 });
  const refused: [Parameters<typeof run>[0], string[], string][] = [
    [one, ['x'], "value 'x' is invalid for argument 'requests'. Expected a whole number of at"],
    [one, ['7', '8'], 'too many arguments. Expected 1 argument but got 2.'],
    [{ name: 'sizes', about: '' }, ['x'], 'too many arguments. Expected 0 arguments but got 1.'],
  ];
  for (const [given, args, output] of refused)
    expect(run(given, args)).toEqual({ code: 1, output: expect.stringContaining(output) });
});

test('the help shows everything that is accepted, with defaults', () => {
  expect(run(command, ['--help'])).toEqual({ code: 0, output: help });
  expect(run({ name: 'start', about: '' }, ['--help'])).toMatchObject({
    output: expect.stringMatching(/^Usage: npm start -- \[options\]\n/),
  });
});
