import { parseArgs, type ParseArgsConfig } from 'node:util';
import service from '../../../package.json' with { type: 'json' };
import { ConfigError } from '../config/read-settings.ts';
import { settingList } from '../config/settings.ts';
import { MasterKeyError } from '../../access/secret-box.ts';
import { DomainError } from '../../platform/domain-error.ts';
import { monotonicMs } from '../../platform/time.ts';
import { RetentionError } from '../../resource/check-document.ts';
import { DatabaseSettingsError } from '../../store/check-settings.ts';
import { ClockError } from '../../store/database-clock.ts';
import { CopyError } from '../../store/copy-rows.ts';
import { DirectoryInUseError } from '../../store/directory-lock.ts';
import { SchemaError } from '../../store/migrate.ts';
import { DatabaseConnectionError } from '../../store/open-database.ts';
import { EmbeddedDatabaseError } from '../../store/pglite/open-pglite.ts';

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

/** Thrown for a failure that the user can fix. Only the message is printed, without a stack trace. */
export class CommandError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CommandError';
  }
}

/**
 * Parses a command's arguments. `names` are the names of its positional arguments, all of which are required.
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

/**
 * Makes text safe for a terminal. Names come from operators and sources, and could contain sequences that change the
 * window's title or the clipboard, forge a line, or turn text around. Line breaks stay.
 */
const escapeControls = (text: string): string =>
  text.replaceAll(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => String.raw`\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );

/** Prints a human-readable message to standard error. Results are printed to standard output. */
export const printMessage = (line: string): void =>
  void process.stderr.write(`${escapeControls(line)}\n`);

/** Prints one line of text for people to standard output. */
export const printLine = (line: string): void =>
  void process.stdout.write(`${escapeControls(line).replaceAll('\n', '\\n')}\n`);

/** Prints a machine-readable result: one line of JSON. */
export const printResult = (result: object): void => printLine(JSON.stringify(result));

/** Returns a function that prints a long task's progress, at most once per `intervalMs`. */
export function createProgress(describe: (count: number) => string, intervalMs = 1_000) {
  let lastPrintedAtMs = monotonicMs();
  return (count: number): void => {
    const nowMs = monotonicMs();
    if (nowMs - lastPrintedAtMs < intervalMs) return;
    lastPrintedAtMs = nowMs;
    printMessage(describe(count));
  };
}

/** Runs a command and resolves with the exit code: 0 on success, 1 on failure, 2 for invalid arguments. */
export async function runCommand(
  commands: readonly Command[],
  args: readonly string[],
): Promise<number> {
  if (args[0] === '--version' || args[0] === '-v') {
    process.stdout.write(`trueward-service ${service.version}\n`);
    return 0;
  }
  const words = args[0] === 'help' ? args.slice(1) : args;
  const wantsHelp = words !== args || words.some((word) => word === '--help' || word === '-h');
  const command = commands.find(({ name }) =>
    name.split(' ').every((word, index) => words[index] === word),
  );
  if (wantsHelp) {
    process.stdout.write(
      command ? formatHelp(command) : formatOverview(commands, readGroup(words)),
    );
    return 0;
  }
  if (!command) {
    printMessage(
      args.length === 0 ? 'No command given.\n' : `Unknown command ${args.join(' ')}.\n`,
    );
    printMessage(formatOverview(commands, readGroup(words)));
    return 2;
  }
  try {
    await command.run(words.slice(command.name.split(' ').length));
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) {
      printMessage(describeError(error));
      return 1;
    }
    printMessage(`${error.message}\n\n${formatHelp(command)}`);
    return 2;
  }
}

/** Returns the command group, such as `keys`, which is the first word. */
const readGroup = (words: readonly string[]): string =>
  words[0] === undefined || words[0].startsWith('-') ? '' : words[0];

/** Returns the text that `--help` prints for a command. */
export const formatHelp = ({ name, summary, help }: Command): string =>
  `trueward-service ${name}: ${summary}.\n\n${help.trim()}\n`;

/** Returns the text that `--help` prints without a command, or for a group of commands such as `keys`. */
export function formatOverview(commands: readonly Command[], group = ''): string {
  const groupCommands = commands.filter(({ name }) => name.startsWith(`${group} `));
  const listedCommands = groupCommands.length > 0 ? groupCommands : commands;
  const width = Math.max(...listedCommands.map(({ name }) => name.length)) + 2;
  const lines = listedCommands.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`);
  return `Usage: trueward-service <command> [options]

Commands
${lines.join('\n')}

trueward-service <command> --help shows a command's help; --version prints the version.

${environmentHelp}`;
}

/** Returns only the message for an error that an operator can fix, and the stack trace for any other error. */
function describeError(error: unknown): string {
  if (error instanceof DomainError) {
    const fields = error.errors.map(({ pointer, message }) => `  ${pointer.slice(1)} ${message}`);
    return [error.message, ...fields].join('\n');
  }
  const isFixable = [
    ClockError,
    ConfigError,
    DatabaseConnectionError,
    DatabaseSettingsError,
    SchemaError,
    DirectoryInUseError,
    EmbeddedDatabaseError,
    MasterKeyError,
    RetentionError,
    CommandError,
    CopyError,
  ].some((kind) => error instanceof kind);
  if (!(error instanceof Error)) return String(error);
  return isFixable ? error.message : (error.stack ?? error.message);
}

const settingWidth = Math.max(...settingList.map(([name]) => name.length)) + 2;

const settingLines = settingList.map(([name, { description, fallback }]) => {
  const suffix = fallback === undefined ? '' : ` (default ${fallback})`;
  return `  ${name.padEnd(settingWidth)}${description}${suffix}`;
});

/** The environment variables that configure every command. */
export const environmentHelp = `Environment\n${settingLines.join('\n')}\n`;
