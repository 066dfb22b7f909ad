import { type DestinationStream, type Logger, pino } from 'pino';
import { DatabaseUnreachableError, isDiskFull } from '../store/database-errors.ts';

/** Longest text in a log line, in characters; text from a client can be as long as a request body. */
const maxTextLength = 500;
const maxStackLength = 4_000;
/** Longest array or object in a log line, as JSON. */
const maxJsonLength = 2_000;

/**
 * The log of the service: JSON lines of bounded length. When the database is unavailable or its disk is
 * full, only the start and the end are logged, not every request that fails in between.
 */
export function createLog(level: string, destination: DestinationStream): Logger {
  return pino(
    {
      level,
      formatters: { log: bound },
      serializers: { err: (error: Error) => bound(pino.stdSerializers.err(error)) },
      hooks: {
        logMethod(args, method) {
          const [first]: unknown[] = args;
          const { err } = (typeof first === 'object' && first ? first : {}) as { err?: unknown };
          if (!(err instanceof DatabaseUnreachableError) && !isDiskFull(err))
            method.apply(this, args);
        },
      },
    },
    destination,
  );
}

/** Errors are bounded by their serializer. */
const bound = (members: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]: [string, unknown]) => [
      name,
      value instanceof Error
        ? value
        : boundValue(value, name === 'stack' ? maxStackLength : maxTextLength),
    ]),
  );

function boundValue(value: unknown, maxLength: number): unknown {
  if (typeof value === 'string') return cut(value, maxLength);
  if (typeof value !== 'object' || value === null) return value;
  const json = JSON.stringify(value) ?? '';
  return json.length <= maxJsonLength ? value : cut(json, maxJsonLength);
}

const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`;
