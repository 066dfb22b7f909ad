import { Argument, Command as Program, InvalidArgumentError, Option as Named } from 'commander';

/**
 * What a command accepts. A text alone is a flag, with this help. `argument`: is given without a name. `shown`: what the
 * help shows in place of the value. `several`: takes several values, also if it is repeated; without a default, names are
 * then all.
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

/**
 * Returns the command's options. With `--help`, prints the help and exits; if an argument is invalid, says which, prints the
 * help and exits with code 1. Call it before anything has an effect.
 *
 * @template {Record<string, Option>} const O
 * @param {Command<O>} command
 * @param {readonly string[]} [args]
 * @param {Program} [program] what parses; in tests, one that does not exit
 */
export function readOptions(command, args = process.argv.slice(2), program = new Program()) {
  const { name, about, options = {}, check } = command;
  const script = name === 'start' ? name : `run ${name}`;
  // The lines of a paragraph are joined, and wrapped where the terminal ends.
  const paragraphs = about.replaceAll(/(?<=\S)\n(?=\S)/g, ' ');
  program.name(`npm ${script} --`).description(paragraphs).showHelpAfterError();
  const parts = Object.entries(options).map(([key, option]) => {
    const part = declare(key, option);
    if (part instanceof Named) program.addOption(part);
    else program.addArgument(part);
    return { key, option, part };
  });
  program.parse(args, { from: 'user' });
  const values = /** @type {{ [K in keyof O]: Value<O[K]> }} */ (
    Object.fromEntries(parts.map(({ key, ...rest }) => [key, readValue(program, rest)]))
  );
  const problem = check?.(values);
  return problem === undefined ? values : program.error(`error: ${problem}`);
}

/**
 * @param {string} key
 * @param {Option} option
 */
function declare(key, option) {
  if (typeof option === 'string') return new Named(`--${key}`, option);
  const { type, help, several, argument, default: fallback } = option;
  const kind = type === 'whole' || type === 'number' ? 'n' : type;
  const shown = `${option.shown ?? (argument ? key : kind)}${several ? '...' : ''}`;
  const part = argument ? new Argument(`[${shown}]`, help) : new Named(`--${key} <${shown}>`, help);
  if (fallback !== undefined) part.default(several ? [fallback].flat() : fallback);
  if (option.type !== 'name')
    return part.argParser((text, /** @type {unknown} */ previous) => {
      const value = readOne(option, text);
      if (!several) return value;
      return previous === part.defaultValue ? [value] : [previous, value].flat();
    });
  if (several && fallback === undefined) part.default(option.names, 'all');
  return part.choices(option.names);
}

/**
 * @param {Program} program after it has parsed
 * @param {{ option: Option, part: Argument | Named }} _
 */
function readValue(program, { option, part }) {
  const value =
    part instanceof Named
      ? program.getOptionValue(part.attributeName())
      : program.processedArgs[program.registeredArguments.indexOf(part)];
  if (typeof option === 'string') return value ?? false;
  return option.several ? [...new Set(value)] : value;
}

/**
 * @param {Text | Numeric} option
 * @param {string} text
 */
function readOne(option, text) {
  if (option.type === 'text') {
    if (text !== '' && !text.startsWith('-')) return text;
    throw new InvalidArgumentError('Expected a text that doesn’t begin with -.');
  }
  const number = text.trim() === '' ? NaN : Number(text);
  const isWhole = option.type === 'whole';
  const isOfType = isWhole ? Number.isSafeInteger(number) : Number.isFinite(number);
  const least = option.least ?? (isWhole ? 1 : undefined);
  if (isOfType && (least === undefined ? number > 0 : number >= least)) return number;
  const bound = least === undefined ? 'above 0' : `of at least ${least}`;
  throw new InvalidArgumentError(`Expected a ${isWhole ? 'whole ' : ''}number ${bound}.`);
}
