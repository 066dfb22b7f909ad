import type { Clock } from '../src/platform/clock.ts';
import { startInProcess as start, type InProcessService } from './in-process.ts';

export type { InProcessService };
export { createSteerableClock, type SteerableClock } from './steerable-clock.ts';

interface Options {
  clock: Clock;
  databaseUrl?: string;
  dataDirectory?: string;
  env?: Record<string, string>;
}

/** {@link start} without rate limits, by the address `http://service.test`. */
export const startInProcess = ({ databaseUrl, env, ...options }: Options) =>
  start(
    {
      ...env,
      PUBLIC_URL: 'http://service.test',
      RATE_LIMITS: 'off',
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    },
    options,
  );
