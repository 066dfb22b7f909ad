import { type DestinationStream, type Logger, pino } from 'pino';
import { DatabaseAwayError } from '../store/is-unavailable.ts';
import { isDiskFull } from '../store/watch-disk.ts';

/** Longest text in a line, in characters; whatever comes from a client can be as long as a body. */
const mostOfText = 500;
const mostOfStack = 4_000;
/** Longest list or object in a line, as JSON. */
const mostOfJson = 2_000;

/**
 * The log of the service: lines of JSON, each of a bounded length. That the database is away, or its
 * disk full, is logged once when it begins and once when it ends, not by everything that fails meanwhile.
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
          if (!(err instanceof DatabaseAwayError) && !isDiskFull(err)) method.apply(this, args);
        },
      },
    },
    destination,
  );
}

/** An error is bounded when it has been serialized. */
const bound = (members: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]: [string, unknown]) => [
      name,
      value instanceof Error
        ? value
        : boundValue(value, name === 'stack' ? mostOfStack : mostOfText),
    ]),
  );

function boundValue(value: unknown, mostCharacters: number): unknown {
  if (typeof value === 'string') return cut(value, mostCharacters);
  if (typeof value !== 'object' || value === null) return value;
  const json = JSON.stringify(value) ?? '';
  return json.length <= mostOfJson ? value : cut(json, mostOfJson);
}

const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`;
