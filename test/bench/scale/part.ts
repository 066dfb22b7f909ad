import type { PrivatePostgres } from '../../../service/test/private-postgres.ts';
import type { BuildUnderTest } from '../service/builds.ts';
import type { Receiver } from '../service/receiver.ts';
import type { Found } from '../service/results.ts';

export interface Options {
  postgres: PrivatePostgres;
  receiver: Receiver;
  /** This build and optionally an older one to compare with. */
  builds: readonly BuildUnderTest[];
  /** The length of a window. */
  ms: number;
  /** Tiny numbers, to check that everything works. */
  quick: boolean;
}

/** Answers one question. */
export type Part = (options: Options) => Promise<Found>;

/** Formats a number without fraction digits. */
export const whole = (value: number): string => Math.round(value).toLocaleString('en');
