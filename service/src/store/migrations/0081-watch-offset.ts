/** The offset of the fastest request about a watch: watches are compared by the clock of one device, too. */
export const watchOffset = {
  name: '0081-watch-offset',
  statements: [`ALTER TABLE decisions ADD COLUMN watch_offset_ms bigint`],
} as const;
