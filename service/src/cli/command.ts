import { parseArgs, type ParseArgsConfig } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;
type Parsed<O extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; options: O; allowPositionals: true; strict: true }>
>;

/** One command of `trueward-service`. */
export interface Command {
  /** The name as typed, such as `keys roll`. */
  name: string;
  /** One-line description for the list of commands. */
  summary: string;
  /** Text for `--help`: usage, options, examples. */
  help: string;
  /** @throws UsageError when the arguments are invalid. */
  run(args: string[]): Promise<void>;
}

/** Thrown for invalid arguments. The message and the help are printed, and the exit code is 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** Thrown for a failure that the user can fix. Only the message is printed, without a stack. */
export class CommandError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CommandError';
  }
}

/**
 * Parses the arguments of a command. `names` are the names of its positional arguments, all of which are required.
 *
 * @throws UsageError
 */
export function readArguments<const O extends Options>(
  args: string[],
  options: O,
  names: readonly string[] = [],
): Parsed<O> {
  const { values, positionals } = parse(args, options);
  const missingArgument = names[positionals.length];
  if (missingArgument !== undefined) throw new UsageError(`Missing argument <${missingArgument}>.`);
  const extraArgument = positionals[names.length];
  if (extraArgument !== undefined)
    throw new UsageError(`Unexpected argument ${JSON.stringify(extraArgument)}.`);
  return { values, positionals };
}

function parse<const O extends Options>(args: string[], options: O): Parsed<O> {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}

/**
 * Parses an option with a fixed set of values.
 *
 * @throws UsageError
 */
export function oneOf<const T extends string>(
  name: string,
  value: string | undefined,
  allowed: readonly T[],
): T {
  const match = allowed.find((option) => option === value);
  if (match !== undefined) return match;
  const problem = value === undefined ? 'it is missing' : `received ${JSON.stringify(value)}`;
  throw new UsageError(`--${name} must be one of ${allowed.join(', ')}; ${problem}.`);
}

/** Prints a human-readable message to standard error. Results are printed to standard output. */
export const printMessage = (line: string): void => void process.stderr.write(`${line}\n`);

/** Prints a machine-readable result: one line of JSON. */
export const printResult = (result: object): void =>
  void process.stdout.write(`${JSON.stringify(result)}\n`);

/** Returns a function that prints the progress of a long task, at most once per `everyMs`. */
export function createProgress(describe: (count: number) => string, everyMs = 1_000) {
  let lastMs = performance.now();
  return (count: number): void => {
    const nowMs = performance.now();
    if (nowMs - lastMs < everyMs) return;
    lastMs = nowMs;
    printMessage(describe(count));
  };
}
