import { parseArgs, type ParseArgsConfig } from 'node:util';

/** One command of `trueward-service`. */
export interface Command {
  /** As it is typed: `keys roll`. */
  name: string;
  /** What it does, in one line. */
  summary: string;
  /** What `--help` shows: usage, options, examples. */
  help: string;
  /** @throws UsageError when the arguments are not what `help` says. */
  run(args: string[]): Promise<void>;
}

/** The arguments are wrong: the message and the help are shown, and the exit code is 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** Something that a person can put right stopped the command: only the message is shown. */
export class CommandError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CommandError';
  }
}

/**
 * Reads the arguments of a command; `names` are its positional ones, all required.
 *
 * @throws UsageError
 */
export function readArguments<const O extends NonNullable<ParseArgsConfig['options']>>(
  args: string[],
  options: O,
  names: readonly string[] = [],
) {
  const { values, positionals } = parse(args, options);
  const missing = names[positionals.length];
  if (missing !== undefined) throw new UsageError(`The <${missing}> is missing.`);
  const extra = positionals[names.length];
  if (extra !== undefined) throw new UsageError(`${JSON.stringify(extra)} is one word too many.`);
  return { values, positionals };
}

function parse<const O extends NonNullable<ParseArgsConfig['options']>>(
  args: string[],
  options: O,
) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}

/**
 * An option that has to be one of these.
 *
 * @throws UsageError
 */
export function oneOf<const T extends string>(
  name: string,
  value: string | undefined,
  allowed: readonly T[],
): T {
  const found = allowed.find((each) => each === value);
  if (found !== undefined) return found;
  const got = value === undefined ? 'it is missing' : `got ${JSON.stringify(value)}`;
  throw new UsageError(`--${name} must be one of ${allowed.join(', ')}; ${got}.`);
}

/** Writes for people and logs: standard output is for results. */
export const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** Writes a result that a program can read: one line of JSON. */
export const tell = (result: object): void =>
  void process.stdout.write(`${JSON.stringify(result)}\n`);

/** Says how far a long work is, at most once a second, so that nobody takes it for dead. */
export function createProgress(describe: (count: number) => string, everyMs = 1_000) {
  let lastMs = performance.now();
  return (count: number): void => {
    const nowMs = performance.now();
    if (nowMs - lastMs < everyMs) return;
    lastMs = nowMs;
    say(describe(count));
  };
}
