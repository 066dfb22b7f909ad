/** The clock offset of the fastest request about a watch, for comparing watches by the clock of one device. */
export const watchOffset = {
  name: '0081-watch-offset',
  statements: [`ALTER TABLE decisions ADD COLUMN watch_offset_ms bigint`],
} as const;
