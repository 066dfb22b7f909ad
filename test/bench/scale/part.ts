import type { PrivatePostgres } from '../../../service/test/private-postgres.ts';
import type { BuildUnderTest } from '../service/builds.ts';
import type { Receiver } from '../service/receiver.ts';
import type { Found } from '../service/results.ts';

export interface Options {
  postgres: PrivatePostgres;
  receiver: Receiver;
  /** This build and, if there is one to compare with, an older one. */
  builds: readonly BuildUnderTest[];
  /** Of a window. */
  ms: number;
  /** Everything in tiny numbers, to see that it works. */
  quick: boolean;
}

/** Answers one question. */
export type Part = (options: Options) => Promise<Found>;

/** In figures, without a fraction. */
export const whole = (value: number): string => Math.round(value).toLocaleString('en');
