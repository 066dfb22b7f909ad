import { type DestinationStream, type Logger, pino } from 'pino';
import { DatabaseAwayError } from '../store/is-unavailable.ts';
import { isDiskFull } from '../store/watch-disk.ts';

/**
 * The log of the service: lines of JSON. That the database is away, or its disk full, is logged once
 * when it begins and once when it ends, not by everything that fails meanwhile.
 */
export function createLog(level: string, destination: DestinationStream): Logger {
  return pino(
    {
      level,
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
