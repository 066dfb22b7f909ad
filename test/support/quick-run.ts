import { inject } from 'vitest';

/**
 * The rows of a table that this run tests: all of them in `npm run test:full`, otherwise every `step`th, beginning with
 * the first. Only for rows that take the same way through the code and differ in their data.
 */
export const rowsForRun = <T>(rows: readonly T[], step: number): readonly T[] =>
  inject('full') ? rows : rows.filter((_, index) => index % step === 0);
