import { parseArgs } from 'node:util';

/**
 * What a command accepts. A text alone is a flag, with this help. `argument`: is given without a name. `shown`: what the
 * help shows in place of the value. `several`: can be repeated and, unless it is text, separated by commas; without a
 * default, names are then all of them.
 *
 * @typedef {{ help: string, argument?: true, several?: true, shown?: string }} Described
 * @typedef {Described & { type: 'text', default?: string }} Text
 * @typedef {Described & { type: 'name', names: readonly string[], default?: string }} Name
 * @typedef {Described & { type: 'whole' | 'number', least?: number, default?: number | readonly number[] }} Numeric `whole` is at least
 * `least`, or 1; `number` is at least `least`, or above 0.
 * @typedef {Text | Name | Numeric} ValueOption
 * @typedef {string | ValueOption} Option
 */

/**
 * @template {ValueOption} O
 * @typedef {O extends Numeric ? number : O extends { names: readonly (infer N)[] } ? N : string} One
 */

/**
 * @template {Option} O
 * @typedef {O extends ValueOption ? O extends { several: true } ? One<O>[] : O extends { default: string | number | readonly number[] } ? One<O> : One<O> | undefined : boolean} Value
 */

/**
 * A command of package.json: its name there, what it does, and what it accepts. `check` returns what is wrong with the
 * values together, if anything.
 *
 * @template {Record<string, Option>} O
 * @typedef {{ name: string, about: string, options?: O, check?: (values: { [K in keyof O]: Value<O[K]> }) => string | undefined }} Command
 */

/** Says which argument is invalid: what was received, and what is expected. */
export class OptionError extends Error {}

/**
 * Returns the command's options. With `--help`, prints the help and exits; if an argument is invalid, says which, prints the
 * help and exits with code 1. Call it before anything has an effect.
 *
 * @template {Record<string, Option>} const O
 * @param {Command<O>} command
 * @param {readonly string[]} [args]
 */
export function readOptions(command, args = process.argv.slice(2)) {
  try {
    if (!args.includes('--help')) return parseOptions(command, args);
    console.log(formatHelp(command));
    return process.exit(0);
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    console.error(`${error.message}\n\n${formatHelp(command)}`);
    return process.exit(1);
  }
}

/**
 * @template {Record<string, Option>} const O
 * @param {Command<O>} command
 * @param {readonly string[]} args
 * @returns {{ [K in keyof O]: Value<O[K]> }}
 * @throws {OptionError} if an argument is invalid.
 */
export function parseOptions({ options, check }, args) {
  const texts = collectTexts(options ?? {}, args);
  const values = /** @type {{ [K in keyof O]: Value<O[K]> }} */ (
    Object.fromEntries(
      Object.entries(options ?? {}).map(([key, option]) => [
        key,
        readValue(key, option, texts.get(key)),
      ]),
    )
  );
  const problem = check?.(values);
  if (problem !== undefined) throw new OptionError(problem);
  return values;
}

/**
 * Returns what was given for each option: nothing but an empty text for a flag or a missing value.
 *
 * @param {Record<string, Option>} options
 * @param {readonly string[]} args
 */
function collectTexts(options, args) {
  const named = Object.entries(options).filter(([, option]) => !isArgument(option));
  const positional = Object.entries(options).filter(([, option]) => isArgument(option));
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      named.map(([key, option]) => [
        key,
        { type: typeof option === 'string' ? 'boolean' : 'string' },
      ]),
    ),
    // Its errors don't say what is expected.
    strict: false,
    tokens: true,
  });
  /** @type {Map<string, string[]>} */
  const texts = new Map();
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue;
    const isNamed = token.kind === 'option';
    const [key, option] =
      (isNamed ? named.find(([name]) => name === token.name) : positional[0]) ?? [];
    if (key === undefined || option === undefined)
      throw new OptionError(
        isNamed
          ? `Got the option ${token.rawName}, expected ${[...named.map(([name]) => `--${name}`), '--help'].join(', ')}.`
          : `Got the argument ${JSON.stringify(token.value)}, expected ${Object.values(options).some(isArgument) ? 'no more' : 'none'}.`,
      );
    if (typeof option === 'string' && token.value !== undefined)
      throw new OptionError(`--${key}: got ${JSON.stringify(token.value)}, expected no value.`);
    if (!isNamed && !(typeof option === 'object' && option.several)) positional.shift();
    texts.set(key, [...(texts.get(key) ?? []), token.value ?? '']);
  }
  return texts;
}

/**
 * @param {string} key
 * @param {Option} option
 * @param {string[] | undefined} texts as given on the command line
 */
function readValue(key, option, texts) {
  if (typeof option === 'string') return texts !== undefined;
  const name = isArgument(option) ? showValue(key, option) : `--${key}`;
  const read = (/** @type {string} */ text) => readOne(name, option, text);
  if (!option.several) {
    const text = texts?.at(-1);
    return text === undefined ? option.default : read(text);
  }
  const parts = option.type === 'text' ? texts : texts?.flatMap((text) => text.split(','));
  if (option.type !== 'name') return parts?.map(read) ?? [option.default ?? []].flat();
  const chosen = parts?.map(read) ?? [option.default ?? option.names].flat();
  return option.names.filter((known) => chosen.includes(known));
}

/**
 * @param {string} name
 * @param {ValueOption} option
 * @param {string} text
 */
function readOne(name, option, text) {
  const value = convert(option, text.trim());
  if (value !== undefined) return value;
  const received = text === '' ? 'nothing' : JSON.stringify(text);
  throw new OptionError(`${name}: got ${received}, expected ${describeExpected(option)}.`);
}

/**
 * Returns the value, or undefined if the text is not a valid one.
 *
 * @param {ValueOption} option
 * @param {string} text
 */
function convert(option, text) {
  if (option.type === 'text') return text === '' || text.startsWith('-') ? undefined : text;
  if (option.type === 'name') return option.names.find((name) => name === text);
  const number = text === '' ? NaN : Number(text);
  const isWhole = option.type === 'whole';
  const isOfType = isWhole ? Number.isSafeInteger(number) : Number.isFinite(number);
  const isEnough =
    isWhole || option.least !== undefined ? number >= (option.least ?? 1) : number > 0;
  return isOfType && isEnough ? number : undefined;
}

/** @param {ValueOption} option */
function describeExpected(option) {
  if (option.type === 'text') return 'a text that doesn’t begin with -';
  if (option.type === 'name') return `one of ${option.names.join(', ')}`;
  if (option.type === 'whole') return `a whole number of at least ${option.least ?? 1}`;
  return option.least === undefined ? 'a number above 0' : `a number of at least ${option.least}`;
}

/**
 * Returns the text that `--help` prints.
 *
 * @param {Pick<Command<any>, 'name' | 'about' | 'options'>} command
 */
export function formatHelp({ name, about, options = {} }) {
  /** @type {[string, Option][]} */
  const entries = Object.entries(options);
  const positional = entries.filter(([, option]) => isArgument(option));
  const usage = [
    ...positional.map(([key, option]) => showValue(key, option)),
    ...(entries.length > positional.length ? ['options'] : []),
  ].join(' ');
  const rows = entries.map(([key, option]) => [
    `${isArgument(option) ? '' : `--${key} `}${showValue(key, option)}`.trimEnd(),
    describe(option),
  ]);
  rows.push(['--help', 'shows this text']);
  const width = Math.max(...rows.map(([left = '']) => left.length)) + 2;
  const lines = rows.map(
    ([left = '', text = '']) =>
      `  ${left.padEnd(width)}${wrap(text, 112 - width).join(`\n${' '.repeat(width + 2)}`)}`,
  );
  const start = ['start', 'test'].includes(name) ? `npm ${name}` : `npm run ${name}`;
  return `${start}${usage === '' ? '' : ` [-- ${usage}]`}\n\n${about.trim()}\n\n${lines.join('\n')}`;
}

/** @param {Option} option */
function describe(option) {
  if (typeof option === 'string') return option;
  const names = option.type === 'name' ? `: ${option.names.join(', ')}` : '';
  const fallback = option.type === 'name' && option.several ? 'all' : undefined;
  const value = option.default ?? fallback;
  return `${option.help}${names}${value === undefined ? '' : ` (default: ${[value].flat().join()})`}`;
}

/**
 * @param {string} key
 * @param {Option} option
 */
function showValue(key, option) {
  if (typeof option === 'string') return '';
  const kind = option.type === 'whole' || option.type === 'number' ? 'n' : option.type;
  const shown = option.shown ?? (option.argument ? key : kind);
  return `<${shown}>${option.several ? '…' : ''}`;
}

/** @param {Option} option */
const isArgument = (option) => typeof option === 'object' && option.argument === true;

/**
 * @param {string} text
 * @param {number} width
 */
function wrap(text, width) {
  /** @type {string[]} */
  const lines = [];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
