import type { PrivatePostgres } from '../../../service/test/private-postgres.ts';
import type { BuildUnderTest } from '../service/builds.ts';
import type { Receiver } from '../service/receiver.ts';
import type { PartResult } from '../service/results.ts';

export interface Options {
  postgres: PrivatePostgres;
  receiver: Receiver;
  /** This build and, optionally, an older build for comparison. */
  builds: readonly BuildUnderTest[];
  /** How long a window lasts, in milliseconds. */
  ms: number;
  /** Whether to run only a smoke test with a tiny workload. */
  quick: boolean;
}

/** Measures one aspect of scale. */
export type Part = (options: Options) => Promise<PartResult>;

/** Formats a number, rounded to an integer. */
export const formatInteger = (value: number): string => Math.round(value).toLocaleString('en');
