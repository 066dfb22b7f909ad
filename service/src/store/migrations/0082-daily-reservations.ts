/** The house ad whose daily cap a decision counts against. */
export const dailyReservations = {
  name: '0082-daily-reservations',
  statements: [`ALTER TABLE decisions ADD COLUMN reserved_ad text`],
} as const;

/** Open reservations are counted twice a second, so they have a partial index. */
export const dailyReservationsIndex = {
  name: '0083-daily-reservations-index',
  indexes: [
    {
      name: 'decisions_reserved',
      table: 'decisions',
      on: '(account_id, reserved_ad, id) WHERE reserved_ad IS NOT NULL AND served_at IS NULL',
    },
  ],
} as const;
