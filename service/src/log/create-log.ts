import { type DestinationStream, type Logger, pino } from 'pino';
import { DatabaseAwayError } from '../store/is-unavailable.ts';

/**
 * The log of the service: lines of JSON. That the database is away is said once, when it goes and
 * when it is back, not by everything that wanted it meanwhile.
 */
export function createLog(level: string, destination: DestinationStream): Logger {
  return pino(
    {
      level,
      hooks: {
        logMethod(args, method) {
          const [first]: unknown[] = args;
          const { err } = (typeof first === 'object' && first ? first : {}) as { err?: unknown };
          if (!(err instanceof DatabaseAwayError)) method.apply(this, args);
        },
      },
    },
    destination,
  );
}
