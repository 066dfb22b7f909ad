/** The reasons for invalid traffic, and the clock offset of each event. */
export const traffic = {
  name: '0020-traffic',
  statements: [
    `ALTER TABLE decisions ADD COLUMN invalid_reason text`,
    `ALTER TABLE ad_events ADD COLUMN offset_ms bigint`,
    `CREATE INDEX decisions_of_viewer ON decisions (viewer, id) WHERE viewer IS NOT NULL AND status = 'filled'`,
  ],
} as const;
