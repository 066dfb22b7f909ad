import type { PrivatePostgres } from '../../../service/test/private-postgres.ts';

/** A budget, and what was measured. */
export interface Verdict {
  budget: string;
  measured: string;
  held: boolean;
}

/** What a part of the benchmark found. */
export interface Found {
  verdicts: Verdict[];
  head: string[];
  rows: (string | number)[][];
  note: string;
  plot?: { title: string; axis: string; rows: { label: string; value: number }[] };
}

export interface Options {
  postgres: PrivatePostgres;
  /** Of a window. */
  ms: number;
  /** The most decisions that are stored for the part `growth`. */
  mostRows: number;
}

export type Part = (options: Options) => Promise<Found>;
